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

// halfFor is how long what has no name of its own yet may be somebody's work:
// --no-lock measures without the lock.
const halfFor = 24 * time.Hour

// cachePlace is a directory of the cache and what tare puts there.
type cachePlace struct {
	name, kind string
	names      *regexp.Regexp // of what is whole
	proof      string         // a file that is in each; empty: none
	half       string         // prefix of what is being made, besides a dot's
	files      bool           // of files; else of directories
}

// cachePlaces are the directories of the cache. All that is in them can be made
// again, but for lists of routes that a stored result names.
func cachePlaces() []cachePlace {
	key := regexp.MustCompile(`^[0-9a-f]{16}([0-9a-f]{16})?$`)
	short := regexp.MustCompile(`^[0-9a-f]{20}$`)
	return []cachePlace{
		{"bin", kindBuild, key, "built.json", "", false},
		{"pinned", kindPinned, key, "go.mod", "", false},
		{"catalog", kindCatalog, key, "go.mod", "", false},
		{"trees", kindTree, regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`), "", "new-", false},
		{"bench", kindHalf, nil, "", "run-", false},
		{"sent", kindSent, regexp.MustCompile(`^[0-9a-f]{64}$`), "", "new-", true},
		{"document", kindTyped, short, "go.mod", "", false},
		{"routes", kindRoutes, short, "", "", false},
		{"rpc", kindServers, short, "plugins/go.mod", "", false},
		{index.CodeDir, kindSQLite, regexp.MustCompile(`^wazero-[-.0-9a-z]+$`), "", "", false},
		{"answers", kindKnown, regexp.MustCompile(`^[0-9a-f]{2}$`), "", "", false},
		{"", kindHalf, nil, "", "", false}, // what lies in the cache itself
	}
}

// beginnings are the names that what is being made begins with.
func beginnings() []string {
	return []string{".building-", ".describing-", ".making-", ".reference-", ".gate-"}
}

// isHalf reports whether a name is that of something that is being made, or was
// when its maker was killed.
func (p cachePlace) isHalf(name string) bool {
	for _, prefix := range append(beginnings(), p.half) {
		if prefix != "" && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// listed are the directories of the cache in which stored results say that what
// they were asked for begins. It can be asked for again while they are there. A
// result that is in unread, a line each, may name any.
func listed(d cmdenv.Dirs) (named map[string]bool, unread []string, err error) {
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
			continue // it has no result
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
