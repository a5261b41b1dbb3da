package clean

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/history/index"
	"github.com/tarebench/tare/internal/format"
)

// unfinishedFor is the age up to which an unfinished file may be in use:
// --no-lock measures without the lock.
const unfinishedFor = 24 * time.Hour

// cachePlace is a directory of the cache with the form of its content.
type cachePlace struct {
	name, kind string
	names      *regexp.Regexp // of finished content
	proof      string         // a file in each directory; "" if none
	unfinished string         // prefix of unfinished files, in addition to tempPrefixes
	files      bool           // contains files; otherwise directories
}

// cachePlaces returns the directories of the cache. Their content is reproducible, except lists
// of routes that a stored result names.
func cachePlaces() []cachePlace {
	key := regexp.MustCompile(`^[0-9a-f]{16}([0-9a-f]{16})?$`)
	short := regexp.MustCompile(`^[0-9a-f]{20}$`)
	return []cachePlace{
		{"bin", kindBuild, key, "built.json", "", false},
		{"pinned", kindPinned, key, "go.mod", "", false},
		{"catalog", kindCatalog, key, "go.mod", "", false},
		{"trees", kindTree, regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`), "", "new-", false},
		{"bench", kindUnfinished, nil, "", "run-", false},
		{"sent", kindSent, regexp.MustCompile(`^[0-9a-f]{64}$`), "", "new-", true},
		{"document", kindTyped, short, "go.mod", "", false},
		{"routes", kindRoutes, short, "", "", false},
		{"rpc", kindServers, short, "plugins/go.mod", "", false},
		{index.CodeDir, kindSQLite, regexp.MustCompile(`^wazero-[-.0-9a-z]+$`), "", "", false},
		{"answers", kindKnown, regexp.MustCompile(`^[0-9a-f]{2}$`), "", "", false},
		{"", kindUnfinished, nil, "", "", false}, // files directly in the cache
	}
}

// tempPrefixes returns the name prefixes of unfinished files and directories.
func tempPrefixes() []string {
	return []string{".building-", ".describing-", ".making-", ".reference-", ".gate-"}
}

// isUnfinished reports whether a name is that of a file in progress, or left by a killed
// process.
func (p cachePlace) isUnfinished(name string) bool {
	for _, prefix := range append(tempPrefixes(), p.unfinished) {
		if prefix != "" && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// findRoutes returns the directories of the cache that stored results name as their study_dir:
// their studies can run again while these exist. Results in unread, a line each, may name any.
func findRoutes(d cmdenv.Dirs) (named map[string]bool, unread []string, err error) {
	named = map[string]bool{}
	if entries, err := os.ReadDir(filepath.Join(d.Cache, "routes")); err != nil || len(entries) == 0 {
		return named, nil, nil
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
			named[filepath.Clean(r.Asked.Dir)] = true
		}
	}
	return named, unread, nil
}
