package routestudy

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

// Baselines that routers are compared with: net/http, and another router if net/http cannot have
// the table.
const (
	Baseline = "nethttp"
	second   = "chi"
)

// StudyID is the id of the study.
const StudyID = "routes"

// Budgets of the study.
const (
	Quick = 60 * time.Second
	Full  = 8 * time.Minute
)

// noticeable is the share of a complete request from which on a service would notice a router.
const noticeable = 0.05

// workloadSpec is a possible workload.
type workloadSpec struct {
	id, ask, op string
	kind        bool // of routes: quick has no time for it
}

const (
	allID    = "all"
	socketID = "socket"
)

func allWorkloads() []workloadSpec {
	return []workloadSpec{
		{allID, router.AskAll, router.OpServe, false},
		{"static", router.AskStatic, router.OpServe, true},
		{"one-parameter", router.AskParameter, router.OpServe, true},
		{"several-parameters", router.AskParameters, router.OpServe, true},
		{"not-found", router.AskUnknown, router.OpServe, false},
		{"wrong-method", router.AskMethod, router.OpServe, false},
		{socketID, router.AskAll, router.OpSocket, false},
	}
}

// Baseline returns the router that others are compared with on these routes.
func (d *Document) Baseline() string {
	if n, _ := d.Table.Parts(); n > 0 {
		return second
	}
	if _, _, found := d.Table.Ambiguous(); found {
		return second
	}
	return Baseline
}

// Study returns the text of a study of the document's routes, whose list is a file next to it,
// named ListName: all routers of a catalog, on a workload for each kind of route in the table. left
// names the routers that are skipped, with the reason.
func (d *Document) Study(leaves []build.Leaf) (string, []tare.NotWeighed) {
	var b strings.Builder
	fmt.Fprintf(&b, "study: %s\nquestion: %q\nkind: %s\nbaseline: %s\ncontenders:\n", StudyID, d.studyQuestion(), router.Kind, d.Baseline())
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
	slices.SortStableFunc(ids, func(x, y string) int { return baselineRank(x, d.Baseline()) - baselineRank(y, d.Baseline()) })
	for _, id := range ids {
		fmt.Fprintf(&b, "  - %s\n", id)
	}
	b.WriteString("workloads:\n")
	possible, brief := d.Table.Asks(), []string(nil)
	for _, w := range allWorkloads() {
		if !slices.Contains(possible, w.ask) {
			continue
		}
		if !w.kind {
			brief = append(brief, w.id)
		}
		pool := ""
		if n := d.Table.Count(w.ask); w.op == router.OpServe && n > usualRequests { // else it would not request every route
			pool = fmt.Sprintf(", pool: %d", min(n, fixture.MaxVisits))
		}
		fmt.Fprintf(&b, "  - {id: %s, file: %q, op: %s%s, set: {%s: %s}}\n", w.id, d.ListName(), w.op, pool, router.SetAsk, w.ask)
	}
	fmt.Fprintf(&b, "metrics: [time, cpu, bytes, allocs]\nbudget: {quick: %s, full: %s, quick_workloads: [%s]}\n", Quick, Full, strings.Join(brief, ", "))
	return b.String(), left
}

// usualRequests is the number of requests that are made of a table unless the study sets more.
const usualRequests = 512

// baselineRank puts the baseline first.
func baselineRank(id, baseline string) int {
	if id == baseline {
		return 0
	}
	return 1
}

// studyQuestion returns the question of the study.
func (d *Document) studyQuestion() string {
	return fmt.Sprintf("Which router is fastest on the %s of %s, and would a request notice?", d.countRoutes(), d.fileTitle())
}

// fileTitle returns the name of the document's file, without its directory.
func (d *Document) fileTitle() string {
	return strings.Trim(filepath.Base(filepath.ToSlash(d.Name)), "<>")
}

// ListName returns the name of the file with the list of the document's routes.
func (d *Document) ListName() string {
	stem := strings.TrimSuffix(d.fileTitle(), filepath.Ext(d.fileTitle()))
	stem = strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r) {
			return '_'
		}
		return r
	}, stem)
	return cmp.Or(strings.TrimLeft(stem, "."), "routes") + ".txt"
}

func (d *Document) countRoutes() string { return format.Count(len(d.Table.Routes), "route") }
