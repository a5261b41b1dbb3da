package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/internal/lazyregexp"
	"github.com/tarebench/tare/studies"
)

type storedRun struct {
	name  string
	args  []string // arguments of tare
	page  string   // file name of the page in docs/research; "" if absent
	study string   // name of the built-in study
}

// rounds is the number of rounds, enough for intervals of all comparisons. With more workloads the error level of
// each is stricter and needs more rounds. One workload needs 8 rounds, 33 need 11.
const rounds = "12"

func fullRun(study, page string, more ...string) storedRun {
	args := []string{"run", study, "--budget", "full", "--rounds", rounds, "--seed", "2026"}
	return storedRun{name: study, study: study, page: page, args: append(args, more...)}
}

// publishedClone is a clone of the library that copies structs, next to this repository.
const publishedClone = "../cgocopy"

// runs lists the runs that the documents quote. Each measures a complete study.
var runs = []storedRun{
	fullRun("json-encode", "json.md"),
	fullRun("json-decode", "json-decode.md"),
	fullRun("json-binary", ""),
	fullRun("json-heap", ""),
	fullRun("routing", "routing.md"),
	fullRun("homelab", "homelab.md"),
	fullRun("ingest", "ingest.md"),
	fullRun("users", "users.md"),
	fullRun("tiny", "tiny.md"),
	fullRun("ffi", "ffi.md", "--with-original", publishedClone),
	fullRun("ffi-hand", ""),
	fullRun("ffi-floor", ""),
}

func runNames() (names []string) {
	for _, r := range runs {
		names = append(names, r.name)
	}
	return names
}

func resultPath(root, name string) string {
	return filepath.Join(root, "docs", "runs", name+".json.gz")
}

// saveResult stores the result in a document of tare run, without paths of this machine.
func saveResult(root, name string, document []byte) error {
	var r tare.Result
	if err := json.Unmarshal(document, &r); err != nil {
		return err
	}
	if r.Stopped == "interrupted" {
		return errors.New("the run was interrupted")
	}
	document = userPath.ReplaceAll(document, []byte("${1}../$2"))
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(document); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(resultPath(root, name)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(resultPath(root, name), out.Bytes(), 0o644)
}

// userPath matches a path in a user's or temporary directory, e.g. /home/ann/src/cgocopy. Its groups are the
// preceding character and the last element. A stored result has ../cgocopy instead, as if it were next to the
// repository.
var userPath = lazyregexp.New(`(^|[^\w./])/(?:tmp|home|root|work|Users|private|var/folders)/(?:[\w.+-]+/)*([\w.+-]+)`)

// loadResult reads a stored result and its study. It judges the claims and answers again, because the study may
// have changed.
func loadResult(root, name string) (*tare.Result, tare.Study, error) {
	file, err := os.Open(resultPath(root, name))
	if err != nil {
		return nil, tare.Study{}, fmt.Errorf("%w; measure it: writeups -tare FILE %s", err, name)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return nil, tare.Study{}, fmt.Errorf("%s: %w", file.Name(), err)
	}
	document, err := io.ReadAll(z)
	if err != nil {
		return nil, tare.Study{}, fmt.Errorf("%s: %w", file.Name(), err)
	}
	var r tare.Result
	if err := json.Unmarshal(document, &r); err != nil {
		return nil, tare.Study{}, fmt.Errorf("%s: %w", file.Name(), err)
	}
	source, err := studies.FS.ReadFile(r.Study + ".yaml")
	if err != nil {
		return nil, tare.Study{}, err
	}
	study, err := studyfile.Parse(r.Study+".yaml", source)
	if err != nil {
		return nil, tare.Study{}, err
	}
	judge.Again(study, &r)
	if err := updateTraps(root, study, &r); err != nil {
		return nil, tare.Study{}, err
	}
	return &r, study, nil
}

// updateTraps copies the present descriptions of traps into r. A trap is a contender that makes a mistake on
// purpose.
func updateTraps(root string, study tare.Study, r *tare.Result) error {
	for _, e := range study.Contenders {
		i := slices.IndexFunc(r.Contenders, func(c tare.Contender) bool { return c.ID == e.ID && c.Role == tare.RoleTrap })
		if i < 0 {
			continue
		}
		source, err := os.ReadFile(filepath.Join(root, "contenders", r.Contenders[i].Kind, e.Leaf(), "contender.json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a variant of another contender
		}
		if err != nil {
			return err
		}
		var manifest struct {
			Trap bool   `json:"trap"`
			Why  string `json:"why"`
		}
		if err := json.Unmarshal(source, &manifest); err != nil {
			return fmt.Errorf("contender %s: %w", e.Leaf(), err)
		}
		if manifest.Trap {
			r.Contenders[i].Why = manifest.Why
		}
	}
	return nil
}
