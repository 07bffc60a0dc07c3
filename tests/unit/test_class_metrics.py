"""Metrics of classes: the AUC by counting ranks is that of scikit-learn, over pairs where there are several classes."""

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from eflops.analysis.references import pairs_auc
from eflops.training.models.classes import class_metrics


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_auc_is_the_mean_over_pairs_of_classes(classes: int) -> None:
    generator = np.random.default_rng(classes)
    labels = generator.integers(0, classes, 60)
    logits = generator.normal(size=(3, 60, classes)).round(1).astype(np.float32)
    areas = class_metrics(torch.from_numpy(logits), torch.from_numpy(labels), area=True)["auc"]
    expected = [pairs_auc(each.astype(float), labels) for each in logits]
    np.testing.assert_allclose(areas, expected, atol=1e-12)
    if classes == 2:
        first = logits[0].astype(float)
        assert areas[0].item() == pytest.approx(roc_auc_score(labels, first[:, 1] - first[:, 0]))


def test_a_class_that_no_row_has_is_left_out_of_the_auc() -> None:
    labels = torch.tensor([0, 0, 2, 2])
    logits = torch.eye(3)[labels][None].contiguous()
    assert class_metrics(logits, labels, area=True)["auc"].tolist() == [1.0]
    assert class_metrics(logits[:, :2], labels[:2], area=True)["auc"].isnan().all()
    assert "auc" not in class_metrics(logits, labels)
