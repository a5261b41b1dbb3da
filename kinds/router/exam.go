package router

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/contender/wire"
)

// examID is the id of the only exam.
const examID = "exam/paths/serve"

// edgeCase is a request on which routers are known to differ.
type edgeCase struct {
	name     string
	property string // row of the table that people read
	method   string
	path     string
}

// edgeCases are requests to a table of /health and /users/{id}. The report prints the first
// difference of the gravest class next to a speed, so the most common cases come first.
func edgeCases() []edgeCase {
	return []edgeCase{
		{"escaped-slash", "escaped slash", "GET", "/users/a%2Fb"},
		{"escaped-plus", "escaped plus", "GET", "/users/a%2Bb"},
		{"needless-escape", "needless escape", "GET", "/users/%41"},
		{"escaped-percent", "escaped percent", "GET", "/users/%2541"},
		{"lower-case-escape", "lower-case escape", "GET", "/users/caf%c3%a9"},
		{"plus", "plus sign", "GET", "/users/a+b"},
		{"semicolon", "semicolon", "GET", "/users/a;b=c"},
		{"not-utf8", "invalid UTF-8", "GET", "/users/%ff"},
		{"escaped-dots", "escaped dots", "GET", "/users/%2e%2e"},
		{"long-value", "long parameter", "GET", "/users/" + strings.Repeat("long", 500)},
		{"empty-value", "empty parameter", "GET", "/users/"},
		{"slash-behind", "slash behind", "GET", "/health/"},
		{"slash-behind-value", "slash behind a parameter", "GET", "/users/7/"},
		{"slash-twice", "doubled slash", "GET", "//health"},
		{"slash-twice-inside", "doubled slash inside", "GET", "/users//7"},
		{"dots", "dot segments", "GET", "/users/../health"},
		{"capitals", "capital letters", "GET", "/HEALTH"},
		{"escaped-literal", "escaped literal", "GET", "/%68ealth"},
		{"head", "HEAD", "HEAD", "/health"},
		{"options", "OPTIONS", "OPTIONS", "/health"},
		{"method", "another method", "POST", "/health"},
		{"unknown-method", "unknown method", "BREW", "/health"},
	}
}

// Reference names what answers are compared with.
func (k *Kind) Reference() string {
	name := "net/http.ServeMux " + runtime.Version()
	k.mu.Lock()
	defer k.mu.Unlock()
	if slices.ContainsFunc(k.userTables, func(t userTable) bool { return !t.forMux }) {
		name += " (on your table, which it cannot have, with the most specific route)"
	}
	return name
}

// Exams writes the edge cases into dir: first those of the user's own tables, as the report prints
// the first difference of the gravest class next to the speed.
func (k *Kind) Exams(dir string) ([]wire.Workload, error) {
	raw, spec, err := formatTable([]fixture.Route{{Method: "GET", Path: "/health"}, {Method: "GET", Path: "/users/{id}"}}, nil)
	if err != nil {
		return nil, err
	}
	var list []question
	for _, o := range edgeCases() {
		list = append(list, question{HTTPRequest: newRequest(o.method, o.path), caseName: o.name, property: o.property})
	}
	in, err := k.writeExam(dir, wire.Workload{ID: examID, Fixture: fixture.RoutesFixture, N: len(spec.Routes), Op: router.OpServe, Spec: raw}, list, serveMux)
	if err != nil {
		return nil, err
	}
	own, err := k.userExams(dir)
	return append(own, in), err
}

// writeExam writes the requests of an exam, with the answers of the reference.
func (k *Kind) writeExam(dir string, in wire.Workload, list []question, reference func(router.Spec) http.Handler) (wire.Workload, error) {
	spec, err := router.ParseSpec(in.Spec)
	if err != nil {
		return in, err
	}
	handler := reference(spec)
	for i := range list {
		if list[i].answer, err = router.Ask(handler, spec, list[i].HTTPRequest); err != nil {
			return in, fmt.Errorf("%s: %w", in.ID, err)
		}
	}
	return k.writeQuestions(dir, in, list)
}

// mostSpecific returns the reference for tables that net/http cannot have: it goes by the table, segment
// by segment, a literal before a parameter.
func mostSpecific(spec router.Spec) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := spec.Answer(wire.HTTPRequest{Method: r.Method, Path: r.URL.EscapedPath()})
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(a.Body) // an answer that is lost is a difference
	})
}

// serveMux returns the reference if it accepts the table.
func serveMux(spec router.Spec) http.Handler {
	mux := http.NewServeMux()
	for _, route := range spec.Routes {
		path := route.BracePath()
		if strings.HasSuffix(path, "/") {
			path += "{$}" // else it would match everything below as well
		}
		mux.HandleFunc(route.Method+" "+path, func(w http.ResponseWriter, r *http.Request) {
			route.Reply(w, r.PathValue)
		})
	}
	return mux
}

// Differ compares one answer with that of net/http. The wording of an error response does not
// count, nor the body of an answer to HEAD. Paths of the same odd form are reported with the text
// of the first of them, if they have the same outcome; a contender gets all paths in order.
func (k *Kind) Differ(exam wire.Workload, a wire.Answer) (tare.Difference, bool) {
	list := k.questionsOf(exam)
	if a.Case == 0 {
		k.forgetTexts(exam)
	}
	if a.Case < 0 || a.Case >= len(list) || list[a.Case].caseName == "" {
		return tare.Difference{}, false
	}
	q := list[a.Case]
	d := tare.Difference{
		Property: q.property, Op: router.OpServe, Case: q.caseName,
		Asked: q.title(), Reference: describeOutcome(q.Method, q.answer), BearsOn: Ops(),
	}
	if a.Error != "" {
		d.Class, d.Got, d.Says = tare.DiffersInAcceptance, "an error: "+clipText(toLegible(a.Error)), "fails on "+d.Asked
		return d, true
	}
	got, err := parseAnswer(a)
	if err != nil {
		d.Class, d.Got, d.Says = tare.DiffersInAcceptance, clipText(toLegible(err.Error())), "makes no answer to "+d.Asked
		return d, true
	}
	d.Got = describeOutcome(q.Method, got)
	d.Class, d.Says = classify(q.describeRequest(), d.Got, got, q.answer)
	if d.Got == d.Reference {
		return tare.Difference{}, false
	}
	if q.remark != "" {
		d.Says = k.firstText(exam, fmt.Sprint(q.remark, " ", d.Class, " ", got.Status, " ", q.answer.Status), d.Says)
	}
	return d, true
}

// firstText returns the text about a contender's first similar answer, which may be this one.
func (k *Kind) firstText(exam wire.Workload, alike, says string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.texts[exam.ID] == nil {
		k.texts[exam.ID] = map[string]string{}
	}
	if first, ok := k.texts[exam.ID][alike]; ok {
		return first
	}
	k.texts[exam.ID][alike] = says
	return says
}

// forgetTexts begins with another contender.
func (k *Kind) forgetTexts(exam wire.Workload) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.texts, exam.ID)
}

// classify returns the class of a difference and its text, to follow the contender's name: the
// request, and its outcome.
func classify(about, outcome string, got, right router.Answer) (class tare.DifferenceClass, says string) {
	switch {
	case isRedirect(got) && isRedirect(right):
		return tare.DiffersInForm, fmt.Sprintf("redirects %s with %s", about, outcome)
	case isRedirect(got):
		return tare.DiffersInAcceptance, fmt.Sprintf("redirects %s to %s", about, redirectTarget(got))
	case isRejection(got) && isRejection(right):
		return tare.DiffersInForm, fmt.Sprintf("refuses %s with %d instead of %d", about, got.Status, right.Status)
	case isRejection(got):
		return tare.DiffersInAcceptance, fmt.Sprintf("refuses %s with %d", about, got.Status)
	case !isRejection(right) && !isRedirect(right):
		return tare.DiffersInValue, fmt.Sprintf("answers %s with %s", about, outcome)
	}
	return tare.DiffersInAcceptance, fmt.Sprintf("answers %s with %s", about, outcome)
}

func isRedirect(a router.Answer) bool  { return a.Status >= 300 && a.Status < 400 }
func isRejection(a router.Answer) bool { return a.Status >= 400 }

// redirectTarget returns the location of a redirect.
func redirectTarget(a router.Answer) string { return clipText(toLegible(a.Header["Location"])) }

// describeOutcome returns an answer in a few words: the status, and for accepted requests the
// values read from them.
func describeOutcome(method string, a router.Answer) string {
	switch {
	case isRedirect(a):
		return fmt.Sprintf("%d to %s", a.Status, redirectTarget(a))
	case isRejection(a) || method == http.MethodHead:
		return fmt.Sprint(a.Status)
	}
	index, values, _ := strings.Cut(string(a.Body), " ")
	switch {
	case index == "" && values == "":
		return fmt.Sprintf("%d and nothing", a.Status)
	case values == "":
		return fmt.Sprintf("%d, route %s", a.Status, clipText(toLegible(index)))
	}
	return fmt.Sprintf("%d, %s", a.Status, clipText(toLegible(values)))
}

// toLegible returns text that can be read on one line.
func toLegible(s string) string { return fixture.Legible([]byte(s)) }
