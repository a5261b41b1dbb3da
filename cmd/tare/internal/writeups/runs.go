package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/studies"
)

// kept is a run whose result is kept in docs/runs.
type kept struct {
	name  string
	args  []string // of tare
	page  string   // in docs/research; empty: there is none
	study string
}

// rounds are enough for an interval of every comparison: with more workloads the
// level is stricter, and takes more of them, 8 for one and 11 for 33.
const rounds = "12"

func full(study, page string, more ...string) kept {
	args := []string{"run", study, "--budget", "full", "--rounds", rounds, "--seed", "2026"}
	return kept{name: study, study: study, page: page, args: append(args, more...)}
}

// published is a clone of the library that the struct copying write-up published,
// beside this repository.
const published = "../cgocopy"

// runs are those that the documents quote: every contender and workload of each
// study. A result that is kept says itself how many rounds it has.
var runs = []kept{
	full("json-encode", "json.md"),
	full("json-decode", "json-decode.md"),
	full("json-binary", ""),
	full("json-heap", ""),
	full("routing", "routing.md"),
	full("homelab", "homelab.md"),
	full("ingest", "ingest.md"),
	full("users", "users.md"),
	full("tiny", "tiny.md"),
	full("ffi", "ffi.md", "--with-original", published),
	full("ffi-hand", ""),
	full("ffi-floor", ""),
}

func runNames() (names []string) {
	for _, r := range runs {
		names = append(names, r.name)
	}
	return names
}

// path of a kept result below the repository.
func path(root, name string) string {
	return filepath.Join(root, "docs", "runs", name+".json.gz")
}

// keep writes a result, after reading it once: what is no result is not kept.
func keep(root, name string, document []byte) error {
	var r tare.Result
	if err := json.Unmarshal(document, &r); err != nil {
		return err
	}
	if r.Stopped == "interrupted" {
		return errors.New("the run was interrupted")
	}
	document = ownPlace.ReplaceAll(document, []byte("${1}../$2"))
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
	if err := os.MkdirAll(filepath.Dir(path(root, name)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path(root, name), out.Bytes(), 0o644)
}

// ownPlace is a path of the machine that measured, in a directory that is somebody's own.
// What is kept names its last element alone, as if it lay beside the repository.
var ownPlace = regexp.MustCompile(`(^|[^\w./])/(?:tmp|home|root|work|Users|private|var/folders)/(?:[\w.+-]+/)*([\w.+-]+)`)

// load reads a kept result, and the bundled study it is of, whose claims are judged and
// whose sentences are chosen anew: they may have changed since.
func load(root, name string) (*tare.Result, tare.Study, error) {
	file, err := os.Open(path(root, name))
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
	judge.Again(study, &r) // by the claims and in the words of the study as it is
	return &r, study, nil
}
