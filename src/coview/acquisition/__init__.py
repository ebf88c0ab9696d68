"""What to measure or label next: utilities of missing views and labels, their costs, batches."""

from coview.acquisition._campaign import Campaign
from coview.acquisition._campaign_errors import ConflictError
from coview.acquisition._costs import Costs
from coview.acquisition._diagnosis import Diagnosis, diagnose
from coview.acquisition._label_utilities import label_utilities
from coview.acquisition._query_utilities import query_utilities
from coview.acquisition._selection import select_batch
from coview.acquisition._simulate import simulate
from coview.acquisition._simulation import Simulation
from coview.acquisition._view_batches import select_views
from coview.acquisition._view_utilities import view_utilities

__all__ = [
    "Campaign",
    "ConflictError",
    "Costs",
    "Diagnosis",
    "Simulation",
    "diagnose",
    "label_utilities",
    "query_utilities",
    "select_batch",
    "select_views",
    "simulate",
    "view_utilities",
]
