package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/ncruces/go-sqlite3"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// tablesVersion is the user_version of a database: a checksum of the SQL, so that each change is a new
// version.
func tablesVersion() int { return int(crc32.ChecksumIEEE([]byte(tables)) &^ (1 << 31)) }

// application marks a database as an index of tare: "tare" in ASCII.
const application = 0x74617265

// Errors of opening: another version of tare made the tables, the file is damaged, or it is a valid
// database of another program.
var (
	errOtherVersion = errors.New("made by another version of tare")
	errNotIndex     = errors.New("not an index of results")
	errForeign      = errors.New("it is a database of something else")
)

// tables is the SQL of the tables: one row for each result document, and one for each of its pairs.
// Times are in nanoseconds since 1970, UTC. A change of the text, comments included, makes all indexes
// be built again.
const tables = `
CREATE TABLE document (
	id          INTEGER PRIMARY KEY,
	path        TEXT NOT NULL UNIQUE, -- of the run's directory, from that of all results, with slashes
	size_bytes  INTEGER NOT NULL,     -- of the file as it was read
	modified_ns INTEGER NOT NULL,
	sha256      TEXT NOT NULL,        -- of the document, the first of a list, without insignificant space
	study       TEXT NOT NULL,
	started_ns  INTEGER NOT NULL,
	digest      TEXT NOT NULL,        -- JSON: a result with what lists and trends need, sums of programs too
	error       TEXT NOT NULL         -- why it cannot be read; empty: it can
);
CREATE INDEX document_study ON document (study, started_ns);
CREATE INDEX document_sha256 ON document (sha256);
CREATE TABLE pair (
	document  INTEGER NOT NULL REFERENCES document (id) ON DELETE CASCADE,
	workload  TEXT NOT NULL,
	metric    TEXT NOT NULL,
	contender TEXT NOT NULL,
	against   TEXT NOT NULL,
	ratio     REAL NOT NULL, -- contender / against
	low       REAL NOT NULL, -- zero, as high: too few rounds for an interval
	high      REAL NOT NULL,
	level     REAL NOT NULL,
	rounds    INTEGER NOT NULL,
	void      INTEGER NOT NULL, -- 1: a check voided a side
	value     REAL,             -- of a metric that counts: what the contender took; NULL of others
	other     REAL,             -- likewise: what against took
	PRIMARY KEY (document, metric, workload, contender, against)
) WITHOUT ROWID;`

// prepareTables creates missing tables, and rejects other tables and damage.
func prepareTables(ctx context.Context, db *sql.DB) error {
	// OFF is safe: if a power cut damages the index, it is built again.
	for _, pragma := range []string{"busy_timeout = 5000", "foreign_keys = ON", "synchronous = OFF"} {
		if _, err := db.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return classifyError(err)
		}
	}
	var version, owner, tableCount int
	for query, value := range map[string]*int{
		"PRAGMA user_version":   &version,
		"PRAGMA application_id": &owner,
		"SELECT count(*) FROM sqlite_schema WHERE type = 'table'": &tableCount,
	} {
		if err := db.QueryRowContext(ctx, query).Scan(value); err != nil {
			return classifyError(err)
		}
	}
	switch {
	case version == 0 && tableCount == 0:
		return inTransaction(ctx, db, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, fmt.Sprintf("%s\nPRAGMA application_id = %d;\nPRAGMA user_version = %d;", tables, application, tablesVersion()))
			return err
		})
	case owner != application:
		return errForeign
	case version != tablesVersion():
		return errOtherVersion
	}
	const wantTables = 2
	if tableCount != wantTables {
		return fmt.Errorf("%w: it has %d tables", errNotIndex, tableCount)
	}
	var damage string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&damage); err != nil {
		return classifyError(err)
	}
	if damage != "ok" {
		return damageError(damage)
	}
	return nil
}

// unreadRE matches the report of quick_check about a page that could not be read. Its group is the
// error code.
var unreadRE = lazyregexp.New(`unable to get the page\. error code=(\d+)`)

// damageError returns the error for a report of quick_check. An unreadable page may mean damage or an
// error of the operating system: the error code decides.
func damageError(found string) error {
	if m := unreadRE.FindStringSubmatch(found); m != nil {
		if code, err := strconv.ParseUint(m[1], 10, 16); err == nil {
			return classifyError(sqlite3.ExtendedErrorCode(code))
		}
	}
	return fmt.Errorf("%w: %s", errNotIndex, found)
}

func inTransaction(ctx context.Context, db *sql.DB, do func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return classifyError(err)
	}
	if err := do(tx); err != nil {
		return errors.Join(classifyError(err), tx.Rollback())
	}
	return classifyError(tx.Commit())
}

// classifyError adds errNotIndex to errors that mean damage.
func classifyError(err error) error {
	// Primary result codes, https://www.sqlite.org/rescode.html. ERROR means that a table or a column
	// is missing.
	for _, code := range []sqlite3.ErrorCode{sqlite3.ERROR, sqlite3.CORRUPT, sqlite3.MISMATCH, sqlite3.NOTADB} {
		if errors.Is(err, code) {
			return fmt.Errorf("%w: %w", errNotIndex, err)
		}
	}
	return err
}
