package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"regexp"
	"strconv"

	"github.com/ncruces/go-sqlite3"
)

// tablesVersion returns the user_version of a database with the tables below: one with others is
// made again.
func tablesVersion() int { return int(crc32.ChecksumIEEE([]byte(tables)) &^ (1 << 31)) }

// application marks the database as ours: "tare".
const application = 0x74617265

// errOtherVersion reports that another version of tare made the tables, errNotIndex that the file
// is damaged, and errForeign that it is a valid database of another program.
var (
	errOtherVersion = errors.New("made by another version of tare")
	errNotIndex     = errors.New("not an index of results")
	errForeign      = errors.New("it is a database of something else")
)

// tables contain one row for each result document and one for each pair of its rounds. Times are in
// nanoseconds since 1970, UTC.
const tables = `
CREATE TABLE document (
	id          INTEGER PRIMARY KEY,
	path        TEXT NOT NULL UNIQUE, -- of the run's directory, from that of all results, with slashes
	size_bytes  INTEGER NOT NULL,     -- of the file as it was read
	modified_ns INTEGER NOT NULL,
	sha256      TEXT NOT NULL,        -- of the document without insignificant space
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

// prepareTables makes the tables of an empty database and rejects those of others.
func prepareTables(ctx context.Context, db *sql.DB) error {
	for _, pragma := range []string{"busy_timeout = 5000", "foreign_keys = ON", "synchronous = OFF"} { // damage by a loss of power is repaired
		if _, err := db.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return classifyError(err)
		}
	}
	var have, objects, owner int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return classifyError(err)
	}
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&owner); err != nil {
		return classifyError(err)
	}
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table'").Scan(&objects); err != nil {
		return classifyError(err)
	}
	switch {
	case have == 0 && objects == 0:
		return inTransaction(ctx, db, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, fmt.Sprintf("%s\nPRAGMA application_id = %d;\nPRAGMA user_version = %d;", tables, application, tablesVersion()))
			return err
		})
	case owner != application:
		return errForeign
	case have != tablesVersion():
		return errOtherVersion
	}
	const want = 2
	if objects != want {
		return fmt.Errorf("%w: it has %d tables", errNotIndex, objects)
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

// unreadRE matches the report of a check about a page that it could not read.
var unreadRE = regexp.MustCompile(`unable to get the page\. error code=(\d+)`)

// damageError returns the error of a check that found something. The check reports a page that it
// could not read as damage: the code of the read decides whether it is.
func damageError(found string) error {
	if m := unreadRE.FindStringSubmatch(found); m != nil {
		if code, err := strconv.ParseUint(m[1], 10, 16); err == nil {
			return classifyError(sqlite3.ExtendedErrorCode(code))
		}
	}
	return fmt.Errorf("%w: %s", errNotIndex, found)
}

// inTransaction runs do in a transaction.
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

// classifyError adds errNotIndex to errors that mean damage, in contrast to those of the operating
// system.
func classifyError(err error) error {
	// Primary result codes, https://www.sqlite.org/rescode.html: ERROR means that a table is
	// missing or another.
	for _, code := range []sqlite3.ErrorCode{sqlite3.ERROR, sqlite3.CORRUPT, sqlite3.MISMATCH, sqlite3.NOTADB} {
		if errors.Is(err, code) {
			return fmt.Errorf("%w: %w", errNotIndex, err)
		}
	}
	return err
}
