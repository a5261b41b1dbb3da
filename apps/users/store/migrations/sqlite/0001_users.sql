-- Times are microseconds since 1970. folded is the name in lower case: SQLite's own
-- lower() knows ASCII only.
CREATE TABLE users (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT    NOT NULL,
  folded     TEXT    NOT NULL,
  email      TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

CREATE UNIQUE INDEX users_email ON users (email);

-- The first user is 300000000.
INSERT INTO sqlite_sequence (name, seq) VALUES ('users', 299999999);
