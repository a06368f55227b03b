-- The tables of a store.

-- `last_sequence` counts the records of a model, `n_rows` the rows it was given; records up to `compacted_through` are
-- gone. Numbers of models are never used twice.
CREATE TABLE models (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    created REAL NOT NULL,
    settings TEXT NOT NULL,
    last_sequence INTEGER NOT NULL DEFAULT 0,
    n_rows INTEGER NOT NULL DEFAULT 0,
    compacted_through INTEGER NOT NULL DEFAULT 0
);

-- Models that were deleted, and of which something may be left.
CREATE TABLE deleted (model INTEGER PRIMARY KEY);

-- What happened to each model, in order. `first_row` and `n_rows`: the rows that a record brings.
CREATE TABLE journal (
    id INTEGER PRIMARY KEY,
    model INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    kind TEXT NOT NULL,
    time REAL NOT NULL,
    actor TEXT NOT NULL,
    first_row INTEGER NOT NULL,
    n_rows INTEGER NOT NULL,
    payload BLOB NOT NULL,
    checksum BLOB NOT NULL,
    UNIQUE (model, sequence)
);
CREATE INDEX journal_rows ON journal (model, first_row) WHERE n_rows > 0;

-- Requests that were accepted: the same key again gets the same answer.
CREATE TABLE keys (
    model INTEGER NOT NULL,
    key TEXT NOT NULL,
    request BLOB NOT NULL,
    answer TEXT NOT NULL,
    time REAL NOT NULL,
    PRIMARY KEY (model, key)
) WITHOUT ROWID;
CREATE INDEX keys_time ON keys (time);

-- Names that users have given to rows.
CREATE TABLE ids (
    model INTEGER NOT NULL,
    id TEXT NOT NULL,
    row INTEGER NOT NULL,
    PRIMARY KEY (model, id)
) WITHOUT ROWID;
CREATE INDEX ids_row ON ids (model, row);

-- Who has labelled which row; the last label of a row is in force, NULL for one that was withdrawn. `together`: one
-- answer about similar rows has given all labels of the sequence number.
CREATE TABLE labels (
    id INTEGER PRIMARY KEY,
    model INTEGER NOT NULL,
    row INTEGER NOT NULL,
    label TEXT,
    previous TEXT,
    actor TEXT NOT NULL,
    time REAL NOT NULL,
    sequence INTEGER NOT NULL,
    together INTEGER NOT NULL,
    at_random INTEGER NOT NULL
);
CREATE INDEX labels_row ON labels (model, row, id);

-- Tables and files of models that users have sent, in parts; only complete ones count.
CREATE TABLE uploads (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    model INTEGER,
    sequence INTEGER NOT NULL DEFAULT 0,
    first_row INTEGER NOT NULL DEFAULT 0,
    n_rows INTEGER NOT NULL DEFAULT 0,
    time REAL NOT NULL
);
CREATE TABLE upload_parts (
    id INTEGER PRIMARY KEY,
    upload INTEGER NOT NULL,
    first_row INTEGER NOT NULL,
    n_rows INTEGER NOT NULL,
    content BLOB NOT NULL,
    checksum BLOB NOT NULL,
    UNIQUE (upload, first_row)
);

-- Labelled rows whose record is gone.
CREATE TABLE kept_rows (
    model INTEGER NOT NULL,
    row INTEGER NOT NULL,
    cells TEXT NOT NULL,
    PRIMARY KEY (model, row)
) WITHOUT ROWID;

-- Models as they were after a record, in parts; only complete ones count.
CREATE TABLE snapshots (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    model INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    digest TEXT NOT NULL,
    n_bytes INTEGER NOT NULL,
    settings TEXT NOT NULL,
    time REAL NOT NULL,
    complete INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX snapshots_model ON snapshots (model, sequence);
CREATE TABLE snapshot_parts (
    id INTEGER PRIMARY KEY,
    snapshot INTEGER NOT NULL,
    number INTEGER NOT NULL,
    content BLOB NOT NULL,
    UNIQUE (snapshot, number)
);

-- The outcome of records that take long: those of kind fit.
CREATE TABLE jobs (
    model INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    state TEXT NOT NULL,
    created REAL NOT NULL,
    ended REAL,
    outcome TEXT,
    PRIMARY KEY (model, sequence)
) WITHOUT ROWID;

CREATE TABLE tokens (
    name TEXT PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    created REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    model TEXT NOT NULL,
    detail TEXT NOT NULL
);

-- What users keep with a model beside its rows, such as names of classes: JSON by key.
CREATE TABLE properties (
    model INTEGER NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    time REAL NOT NULL,
    PRIMARY KEY (model, key)
) WITHOUT ROWID;
