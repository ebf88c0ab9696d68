"""The types that a model file may hold: an explicit list, and nothing that is not on it."""

__all__ = [
    "BOOSTED",
    "COVIEW_TYPES",
    "ESTIMATORS",
    "KEY_TYPES",
    "LIBRARY_TYPES",
    "MACHINES",
    "NEIGHBORS",
    "PLAIN_TYPES",
    "TREE",
]

#: Classes of coview that are, or are part of, a fitted model.
COVIEW_TYPES = frozenset(
    {
        "coview.cluster._bregman.BregmanAgglomerativeClustering",
        "coview.cluster._hybrid_hierarchical.HybridHierarchicalClustering",
        "coview.cluster._affinities.ViewAffinity",
        "coview.cluster._dbscan.MultiRepresentedDBSCAN",
        "coview.cluster._agreeing_spectra.CoRegularizedSpectralClustering",
        "coview.cluster._agreeing_spectra.CoTrainingSpectralClustering",
        "coview.cluster._agreeing_spectra.SimilarityNetworkFusion",
        "coview.cluster._k_means.MultiViewKMeans",
        "coview.cluster._rounding.Rounding",
        "coview.cluster._spectral.MultiViewSpectralClustering",
        "coview.cluster._spectral_views.FusedGraph",
        "coview.cluster._spectral_views.LinkedGraph",
        "coview.inference._disagreement.SpectralEmbedding",
        "coview.compose._columns.NumberColumns",
        "coview.compose._columns.TextColumn",
        "coview.compose._concatenate.ConcatenateViews",
        "coview.compose._table_encoder.TableEncoder",
        "coview.compose._view_encoder.ViewEncoder",
        "coview.compose._view_transformer.ViewTransformer",
        "coview.ensemble._ensemble.Ensemble",
        "coview.ensemble._members.Member",
        "coview.ensemble._view_ensemble.ViewEnsembleClassifier",
        "coview.ensemble._voting.ViewVotingClassifier",
        "coview.ensemble._voting_regressor.ViewVotingRegressor",
        "coview.gaussian_process._co_training_classifier.BayesianCoTrainingClassifier",
        "coview.gaussian_process._co_training_regressor.BayesianCoTrainingRegressor",
        "coview.gaussian_process._kernel_transformer.CoTrainingKernelTransformer",
        "coview.gaussian_process._posterior_consistency_classifier.PosteriorConsistencyGPClassifier",
        "coview.gaussian_process._posterior_consistency_cv.PosteriorConsistencyGPClassifierCV",
        "coview.gaussian_process._posterior_consistency_regressor.PosteriorConsistencyGPRegressor",
        "coview.gaussian_process._prepared.PreparedViews",
        "coview.kernels._features.JointSpectralFeatures",
        "coview.kernels._features.SpectralFeatures",
        "coview.kernels._fused_affinity.CoTrainingAffinity",
        "coview.kernels._fused_affinity.SharedViewsAffinity",
        "coview.kernels._landmarks.LandmarkFeatures",
        "coview.kernels._landmarks.LandmarkSpectrum",
        "coview.kernels._scaling.ViewScaling",
        "coview.kernels._spectrum.GramSpectrum",
        "coview.kernels._spectrum.LinearSpectrum",
        "coview.kernels._view_functions.ViewFunctions",
        "coview.kernels._view_functions.ViewKernels",
        "coview.inference._view_scores.ViewScoreCalibration",
        "coview.impute._conditional_mean.ConditionalMeanImputer",
        "coview.impute._expected_kernel_transformer.ExpectedKernelTransformer",
        "coview.linear_model._co_regularized_logistic.CoRegularizedLogisticRegression",
        "coview.mixture._class_conditional.ClassConditionalGaussianMixture",
        "coview.mixture._co_em_mixture.CoEMMixture",
        "coview.mixture._factor_mixture.FactorMixture",
        "coview.mixture._factor_mixture_classifier.FactorMixtureClassifier",
        "coview.mixture._incomplete_gaussian.IncompleteGaussianMixture",
        "coview.model_selection._split.LabeledKFold",
        "coview.model_selection._transductive.CautiousStratifiedKFold",
        "coview.model_selection._transductive.TransductivePipeline",
        "coview.model_selection._transductive.TransductiveRegressor",
        "coview.semi_supervised._co_em.CoEMClassifier",
        "coview.neighbors._hyperplane.HyperplaneKNeighborsClassifier",
        "coview.neighbors._hyperplane_cv.HyperplaneKNeighborsClassifierCV",
        "coview.neighbors._moderated.ModeratedKNeighborsClassifier",
        "coview.neighbors._multi_represented.MultiRepresentedKNeighborsClassifier",
        "coview.semi_supervised._co_training_classifier.CoTrainingClassifier",
        "coview.semi_supervised._co_training_regressor.CoTrainingRegressor",
        "coview.svm._svm_2k.SVM2K",
        "coview.semi_supervised._co_laplacian.CoLaplacianLeastSquaresClassifier",
        "coview.semi_supervised._co_laplacian.CoLaplacianSVC",
        "coview.semi_supervised._co_regularized_least_squares.CoRegularizedLeastSquaresClassifier",
        "coview.semi_supervised._co_regularized_least_squares.CoRegularizedLeastSquaresRegressor",
        "coview.semi_supervised._co_regularized_svc.CoRegularizedSVC",
        "coview.semi_supervised._laplacian.LaplacianLeastSquaresClassifier",
        "coview.semi_supervised._laplacian.LaplacianSVC",
        "coview.views._block.Block",
        "coview.views._views.Views",
    }
)

#: Nodes of a tree of gradient boosting; loaded after each branch has been followed.
TREE = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"
#: Models of such trees.
BOOSTED = frozenset(
    f"sklearn.ensemble._hist_gradient_boosting.gradient_boosting.HistGradientBoosting{kind}"
    for kind in ("Classifier", "Regressor")
)

#: Support vector machines, and whether they classify; loaded after their arrays have been compared.
MACHINES = {
    f"sklearn.svm._classes.{name}": name.endswith("SVC") for name in ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")
}

#: Means of neighbors; loaded after the width of their rows has been compared.
NEIGHBORS = frozenset({"sklearn.neighbors._regression.KNeighborsRegressor"})

_KERNELS = (
    "CompoundKernel",
    "ConstantKernel",
    "DotProduct",
    "ExpSineSquared",
    "Exponentiation",
    "Matern",
    "PairwiseKernel",
    "Product",
    "RBF",
    "RationalQuadratic",
    "Sum",
    "WhiteKernel",
)
#: Classes of scikit-learn that its estimators hold and that skops does not trust by itself.
LIBRARY_TYPES = frozenset(
    {f"sklearn.gaussian_process.kernels.{name}" for name in _KERNELS}
    | {f"sklearn._loss.loss.{name}" for name in ("HalfBinomialLoss", "HalfMultinomialLoss", "HalfSquaredError")}
    | {f"sklearn._loss.link.{name}" for name in ("IdentityLink", "Interval", "LogitLink", "MultinomialLogit")}
    | {
        "numpy.dtype",
        TREE,
        "sklearn.impute._iterative._ImputerTriplet",
        "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.model_selection._split.KFold",
        "sklearn.model_selection._split.ShuffleSplit",
        "sklearn.model_selection._split.StratifiedKFold",
        "sklearn.model_selection._split.StratifiedShuffleSplit",
        "sklearn.utils._bunch.Bunch",
    }
)

#: Types of the keys of dictionaries, and types as values (``dtype=numpy.float64``).
KEY_TYPES = frozenset({"builtins.bool", "builtins.float", "builtins.int", "builtins.str"})

#: What else may stand under each kind of node.
PLAIN_TYPES = {
    "DictNode": frozenset({"builtins.dict", "collections.OrderedDict", "sklearn.utils._bunch.Bunch"}),
    "ListNode": frozenset({"builtins.list"}),
    "MaskedArrayNode": frozenset({"numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray"}),
    "DTypeNode": frozenset({"numpy.dtype"}),
    "RandomStateNode": frozenset({"numpy.random.mtrand.RandomState"}),
    "SetNode": frozenset({"builtins.set"}),
    "SliceNode": frozenset({"builtins.slice"}),
    "TupleNode": frozenset({"builtins.tuple", "sklearn.impute._iterative._ImputerTriplet"}),
    "LossNode": frozenset(
        f"sklearn._loss._loss.Cy{name}" for name in ("HalfBinomialLoss", "HalfMultinomialLoss", "HalfSquaredError")
    ),
    "RandomGeneratorNode": frozenset({"numpy.random._generator.Generator"}),
}

_ESTIMATORS = {
    "compose._column_transformer": ("ColumnTransformer",),
    "decomposition._pca": ("PCA",),
    "decomposition._truncated_svd": ("TruncatedSVD",),
    "discriminant_analysis": ("LinearDiscriminantAnalysis",),
    "dummy": ("DummyClassifier", "DummyRegressor"),
    "ensemble._hist_gradient_boosting.binning": ("_BinMapper",),
    "ensemble._stacking": ("StackingClassifier", "StackingRegressor"),
    "feature_extraction.text": ("TfidfTransformer",),
    "gaussian_process._gpc": ("GaussianProcessClassifier",),
    "gaussian_process._gpr": ("GaussianProcessRegressor",),
    "impute._base": ("MissingIndicator", "SimpleImputer"),
    "impute._iterative": ("IterativeImputer",),
    "impute._knn": ("KNNImputer",),
    "linear_model._base": ("LinearRegression",),
    "linear_model._bayes": ("ARDRegression", "BayesianRidge"),
    "linear_model._coordinate_descent": ("ElasticNet", "ElasticNetCV", "Lasso", "LassoCV"),
    "linear_model._logistic": ("LogisticRegression", "LogisticRegressionCV"),
    "linear_model._ridge": ("Ridge", "RidgeCV", "RidgeClassifier", "RidgeClassifierCV"),
    "model_selection._search": ("GridSearchCV",),
    "naive_bayes": ("BernoulliNB", "ComplementNB", "GaussianNB", "MultinomialNB"),
    "pipeline": ("Pipeline",),
    "preprocessing._data": ("MaxAbsScaler", "MinMaxScaler", "Normalizer", "RobustScaler", "StandardScaler"),
    "preprocessing._label": ("LabelBinarizer", "LabelEncoder"),
    "svm._classes": ("LinearSVC", "LinearSVR"),
}
#: Estimators of scikit-learn whose fitted state is arrays that Python code or a checked product works on, so that no forged
#: number leads compiled code outside them; those of `BOOSTED`, `MACHINES` and `NEIGHBORS` are looked at by themselves.
ESTIMATORS = (
    frozenset(f"sklearn.{module}.{name}" for module, names in _ESTIMATORS.items() for name in names)
    | BOOSTED
    | frozenset(MACHINES)
    | NEIGHBORS
)
