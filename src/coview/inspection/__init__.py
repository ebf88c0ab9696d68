"""Look into a fitted model: what each view says of a sample, which features go with it, where samples lie."""

from coview.inspection._associations import feature_associations
from coview.inspection._contributions import leading_contributions
from coview.inspection._embedding import consensus_embedding, neighbor_agreement
from coview.inspection._predictions import prediction_blocks, prediction_table
from coview.inspection._reasons import measurement_reasons
from coview.inspection._trust import EQUAL_SHARES, tell_views_apart

__all__ = [
    "EQUAL_SHARES",
    "consensus_embedding",
    "feature_associations",
    "leading_contributions",
    "measurement_reasons",
    "neighbor_agreement",
    "prediction_blocks",
    "prediction_table",
    "tell_views_apart",
]
