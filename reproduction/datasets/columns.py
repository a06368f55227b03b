"""The names of the columns of the tables, and what their class codes mean."""

from __future__ import annotations


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FEATURES: dict[str, tuple[str, ...]] = {
    "australian": tuple(f"A{number}" for number in range(1, 15)),
    "bupa": ("mcv", "alkphos", "sgpt", "sgot", "gammagt", "drinks"),
    "german": tuple(f"A{number}" for number in range(1, 25)),
    "haberman": ("age", "year", "positive_nodes"),
    "heart_cleveland": _names("age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal"),
    "ionosphere": tuple(f"pulse_{pulse}_{part}" for pulse in range(1, 18) for part in ("real", "imaginary")),
    "kr_vs_kp": _names(
        "bkblk bknwy bkon8 bkona bkspr bkxbq bkxcr bkxwp blxwp bxqsq cntxt dsopp dwipd hdchk katri "
        "mulch qxmsq r2ar8 reskd reskr rimmx rkxwp rxmsq simpl skach skewr skrxp spcop stlmt thrsk "
        "wkcti wkna8 wknck wkovl wkpos wtoeg"
    ),
    "mammographic": ("bi_rads", "age", "shape", "margin", "density"),
    "pima": _names("pregnancies glucose blood_pressure skin_thickness insulin body_mass_index pedigree age"),
    "seeds": ("area", "perimeter", "compactness", "length", "width", "asymmetry", "groove_length"),
    "zoo": _names(
        "hair feathers eggs milk airborne aquatic predator toothed backbone breathes venomous fins legs "
        "tail domestic catsize"
    ),
}

_ZOO = ("mammal", "bird", "reptile", "fish", "amphibian", "insect", "invertebrate")

CODES: dict[str, dict[str, str]] = {
    "australian": {"0": "negative", "1": "positive"},
    "bupa": {"1": "1", "2": "2"},
    "german": {"1": "good", "2": "bad"},
    "haberman": {"1": "survived", "2": "died"},
    "heart_cleveland": {"0": "absence", "1": "presence", "2": "presence", "3": "presence", "4": "presence"},
    "ionosphere": {"g": "good", "b": "bad"},
    "kr_vs_kp": {"won": "won", "nowin": "nowin"},
    "mammographic": {"0": "benign", "1": "malignant"},
    "pima": {"0": "negative", "1": "positive"},
    "seeds": {"1": "Kama", "2": "Rosa", "3": "Canadian"},
    "zoo": {str(number): name for number, name in enumerate(_ZOO, 1)} | {name: name for name in _ZOO},
}
