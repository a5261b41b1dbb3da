package routes

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/format"
)

// Who routers are compared with: net/http, and where it cannot have a table
// another that can.
const (
	Baseline = "nethttp"
	second   = "chi"
)

// StudyID is what the study is called.
const StudyID = "routes"

// Budgets of the study.
const (
	Quick = 60 * time.Second
	Full  = 8 * time.Minute
)

// noticeable is the share of a whole request from which on it is said that a
// service would notice a router.
const noticeable = 0.05

// work is a workload there can be.
type work struct {
	id, ask, op string
	kind        bool // of routes: quick has no time for it
}

const (
	allID    = "all"
	socketID = "socket"
)

func works() []work {
	return []work{
		{allID, router.AskAll, router.OpServe, false},
		{"static", router.AskStatic, router.OpServe, true},
		{"one-parameter", router.AskParameter, router.OpServe, true},
		{"several-parameters", router.AskParameters, router.OpServe, true},
		{"not-found", router.AskUnknown, router.OpServe, false},
		{"wrong-method", router.AskMethod, router.OpServe, false},
		{socketID, router.AskAll, router.OpSocket, false},
	}
}

// Baseline is who routers are compared with on these routes.
func (d *Document) Baseline() string {
	if n, _ := d.Table.Parts(); n > 0 {
		return second
	}
	if _, _, found := d.Table.Ambiguous(); found {
		return second
	}
	return Baseline
}

// Study is the text of a study of the document's routes, whose list is a file
// beside it, named ListName: all routers of a catalog, on a workload for each
// kind of route that there is. Who is not asked is named with the reason.
func (d *Document) Study(leaves []build.Leaf) (string, []tare.NotWeighed) {
	var b strings.Builder
	fmt.Fprintf(&b, "study: %s\nquestion: %q\nkind: %s\nbaseline: %s\ncontenders:\n", StudyID, d.question(), router.Kind, d.Baseline())
	var ids []string
	var left []tare.NotWeighed
	for _, leaf := range leaves {
		m := leaf.Manifest
		switch {
		case m.Kind != router.Kind || m.ID == tare.NullID:
		case m.Trap:
			left = append(left, tare.LeftContender(m.ID, "it reproduces a published mistake"))
		default:
			ids = append(ids, m.IDs()...)
		}
	}
	slices.SortStableFunc(ids, func(x, y string) int { return rank(x, d.Baseline()) - rank(y, d.Baseline()) })
	for _, id := range ids {
		fmt.Fprintf(&b, "  - %s\n", id)
	}
	b.WriteString("workloads:\n")
	possible, brief := d.Table.Asks(), []string(nil)
	for _, w := range works() {
		if !slices.Contains(possible, w.ask) {
			continue
		}
		if !w.kind {
			brief = append(brief, w.id)
		}
		pool := ""
		if n := d.Table.Count(w.ask); w.op == router.OpServe && n > usual { // else not every route would be asked for
			pool = fmt.Sprintf(", pool: %d", min(n, fixture.MaxVisits))
		}
		fmt.Fprintf(&b, "  - {id: %s, file: %q, op: %s%s, set: {%s: %s}}\n", w.id, d.ListName(), w.op, pool, router.SetAsk, w.ask)
	}
	fmt.Fprintf(&b, "metrics: [time, cpu, bytes, allocs]\nbudget: {quick: %s, full: %s, quick_workloads: [%s]}\n", Quick, Full, strings.Join(brief, ", "))
	return b.String(), left
}

// usual is how many requests are made of a table unless more are asked for.
const usual = 512

// rank puts the baseline first.
func rank(id, baseline string) int {
	if id == baseline {
		return 0
	}
	return 1
}

// question is what the study asks.
func (d *Document) question() string {
	return fmt.Sprintf("Which router is fastest on the %s of %s, and would a request notice?", d.routes(), d.title())
}

// title is the name of the document's file, alone.
func (d *Document) title() string {
	return strings.Trim(filepath.Base(filepath.ToSlash(d.Name)), "<>")
}

// ListName is what the file with the list of the document's routes is called.
func (d *Document) ListName() string {
	stem := strings.TrimSuffix(d.title(), filepath.Ext(d.title()))
	stem = strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r) {
			return '_'
		}
		return r
	}, stem)
	return cmp.Or(strings.TrimLeft(stem, "."), "routes") + ".txt"
}

func (d *Document) routes() string { return format.Count(len(d.Table.Routes), "route") }
