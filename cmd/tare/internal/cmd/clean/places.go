package clean

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/history/index"
	"github.com/tarebench/tare/internal/format"
)

// This file describes the directories of the cache. tare clean removes only what matches. For example,
// bin has directories named by 16 or 32 hexadecimal digits, with a file built.json.

// unfinishedFor is the age up to which an unfinished file may be in use: a tare with --no-lock writes
// such files without the lock.
const unfinishedFor = 24 * time.Hour

// cachePlace describes the content of a directory of the cache.
type cachePlace struct {
	name       string         // "" means the cache directory itself
	kind       string         // kind of its content
	names      *regexp.Regexp // match finished content; nil if all content is unfinished
	proof      string         // a file that each finished directory contains; "" if none
	unfinished string         // prefix of unfinished content, in addition to tempPrefixes
	files      bool           // the content is files; otherwise directories
}

func (p cachePlace) hasType(info fs.FileInfo) bool {
	if p.files {
		return info.Mode().IsRegular()
	}
	return info.IsDir()
}

// cachePlaces returns the directories of the cache. Only lists of routes cannot be made again.
func cachePlaces() []cachePlace {
	key := regexp.MustCompile(`^[0-9a-f]{16}([0-9a-f]{16})?$`) // 16 or 32 digits
	short := regexp.MustCompile(`^[0-9a-f]{20}$`)
	return []cachePlace{
		{name: "bin", kind: kindBuild, names: key, proof: "built.json"},
		{name: "pinned", kind: kindPinned, names: key, proof: "go.mod"},
		{name: "catalog", kind: kindCatalog, names: key, proof: "go.mod"},
		{name: "trees", kind: kindTree, names: regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`), unfinished: "new-"},
		{name: "bench", kind: kindUnfinished, unfinished: "run-"},
		{name: "sent", kind: kindSent, names: regexp.MustCompile(`^[0-9a-f]{64}$`), unfinished: "new-", files: true},
		{name: "document", kind: kindTyped, names: short, proof: "go.mod"},
		{name: "routes", kind: kindRoutes, names: short},
		{name: "rpc", kind: kindServers, names: short, proof: "plugins/go.mod"},
		{name: index.CodeDir, kind: kindSQLite, names: regexp.MustCompile(`^wazero-[-.0-9a-z]+$`)},
		{name: "answers", kind: kindKnown, names: regexp.MustCompile(`^[0-9a-f]{2}$`)},
		{name: "", kind: kindUnfinished},
	}
}

func tempPrefixes() []string {
	return []string{".building-", ".describing-", ".making-", ".reference-", ".gate-"}
}

// isUnfinished reports whether content with this name is being written, or was left by a killed
// process.
func (p cachePlace) isUnfinished(name string) bool {
	return slices.ContainsFunc(append(tempPrefixes(), p.unfinished), func(prefix string) bool { return prefix != "" && strings.HasPrefix(name, prefix) })
}

// findRoutes returns the directories of the cache that stored results name as their study_dir. They
// stay, so that tare can run these studies again. unread has a line for each result that cannot be
// read.
func findRoutes(d cmdenv.Dirs) (inUse map[string]bool, unread []string, err error) {
	inUse = map[string]bool{}
	if entries, err := os.ReadDir(filepath.Join(d.Cache, "routes")); err != nil || len(entries) == 0 {
		return inUse, nil, nil // no lists of routes, so no result needs to be read
	}
	runs, err := history.Runs(d.AllResults())
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the runs in %s: %w", d.Data, cmdenv.Cause(err))
	}
	for _, run := range runs {
		if !run.Whole {
			continue // without a result
		}
		var r struct {
			Asked struct {
				Dir string `json:"study_dir"`
			} `json:"asked"`
		}
		src, err := os.ReadFile(run.Result())
		if err == nil {
			err = json.Unmarshal(src, &r)
		}
		switch {
		case err != nil:
			unread = append(unread, format.Line(fmt.Sprintf("cannot read %s: %v", run.Result(), cmdenv.Cause(err)), 0))
		case r.Asked.Dir != "":
			inUse[filepath.Clean(r.Asked.Dir)] = true
		}
	}
	return inUse, unread, nil
}
