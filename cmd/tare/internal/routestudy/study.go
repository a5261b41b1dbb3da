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

// Baselines of the study.
const (
	Baseline       = "nethttp"
	secondBaseline = "chi" // if net/http cannot have the table
)

// StudyID is the id of the study.
const StudyID = "routes"

// Budgets of the study.
const (
	Quick = 60 * time.Second
	Full  = 8 * time.Minute
)

// noticeable is the share of the CPU time of a request beyond which a router's cost matters.
const noticeable = 0.05

// workloadSpec is a workload of requests for one kind of route.
type workloadSpec struct {
	id       string
	requests string // a value of router.SetAsk
	op       string
	fullOnly bool // the quick budget has no time for it
}

// Ids of workloads that request all routes.
const (
	allID    = "all"    // requests are calls of the handler
	socketID = "socket" // requests go over a loopback connection
)

// allWorkloads returns the possible workloads. A table has no requests for some of them.
func allWorkloads() []workloadSpec {
	return []workloadSpec{
		{id: allID, requests: router.AskAll, op: router.OpServe},
		{id: "static", requests: router.AskStatic, op: router.OpServe, fullOnly: true},
		{id: "one-parameter", requests: router.AskParameter, op: router.OpServe, fullOnly: true},
		{id: "several-parameters", requests: router.AskParameters, op: router.OpServe, fullOnly: true},
		{id: "not-found", requests: router.AskUnknown, op: router.OpServe},
		{id: "wrong-method", requests: router.AskMethod, op: router.OpServe},
		{id: socketID, requests: router.AskAll, op: router.OpSocket},
	}
}

// Baseline returns the router that others are compared with on these routes.
func (d *Document) Baseline() string {
	if n, _ := d.Table.Parts(); n > 0 {
		return secondBaseline
	}
	if _, _, found := d.Table.Ambiguous(); found {
		return secondBaseline
	}
	return Baseline
}

// Routers returns the ids of all routers among leaves, the modules of the catalog, the baseline first.
// It also returns the skipped routers.
func (d *Document) Routers(leaves []build.Leaf) (ids []string, left []tare.NotWeighed) {
	for _, leaf := range leaves {
		m := leaf.Manifest
		switch {
		case m.Kind != router.Kind || m.ID == tare.NullID: // not a router, or the one that does nothing
		case m.Trap:
			left = append(left, tare.LeftContender(m.ID, "it reproduces a published mistake"))
		default:
			ids = append(ids, m.IDs()...)
		}
	}
	slices.SortStableFunc(ids, func(x, y string) int { return baselineRank(x, d.Baseline()) - baselineRank(y, d.Baseline()) })
	return ids, left
}

// Study returns the text of a study file of routers, with a workload for each kind of route in the
// table. The list of the routes must be in a file next to it, called ListName.
func (d *Document) Study(routers []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "study: %s\nquestion: %q\nkind: %s\nbaseline: %s\ncontenders:\n", StudyID, d.studyQuestion(), router.Kind, d.Baseline())
	for _, id := range routers {
		fmt.Fprintf(&b, "  - %s\n", id)
	}
	d.writeWork(&b)
	return b.String()
}

// writeWork writes the parts of a study file that do not depend on the routers: workloads, metrics
// and budgets.
func (d *Document) writeWork(b *strings.Builder) {
	b.WriteString("workloads:\n")
	possible := d.Table.Asks()
	var quick []string // workloads of the quick budget
	for _, w := range allWorkloads() {
		if !slices.Contains(possible, w.requests) {
			continue
		}
		if !w.fullOnly {
			quick = append(quick, w.id)
		}
		pool := ""
		if n := d.Table.Count(w.requests); w.op == router.OpServe && n > usualRequests { // a larger pool, to request every route
			pool = fmt.Sprintf(", pool: %d", min(n, fixture.MaxVisits))
		}
		fmt.Fprintf(b, "  - {id: %s, file: %q, op: %s%s, set: {%s: %s}}\n", w.id, d.ListName(), w.op, pool, router.SetAsk, w.requests)
	}
	fmt.Fprintf(b, "metrics: [time, cpu, bytes, allocs]\nbudget: {quick: %s, full: %s, quick_workloads: [%s]}\n", Quick, Full, strings.Join(quick, ", "))
}

// usualRequests is the number of requests in a workload's pool, unless the study sets another.
const usualRequests = 512

func baselineRank(id, baseline string) int {
	if id == baseline {
		return 0
	}
	return 1
}

func (d *Document) studyQuestion() string {
	return fmt.Sprintf("Which router is fastest on the %s of %s, and would a request notice?", d.countRoutes(), d.fileTitle())
}

func (d *Document) fileTitle() string {
	return strings.Trim(filepath.Base(filepath.ToSlash(d.Name)), "<>")
}

// ListName returns the name of the file with the list of routes: that of the document's file, with _ in
// place of unusual characters, and .txt.
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
