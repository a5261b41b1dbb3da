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

// This file tests how routers answer requests on which they are known to differ. For example, some
// redirect //health to /health, and others answer 404.

const examID = "exam/paths/serve"

// edgeCase is a request for which routers are known to differ.
type edgeCase struct {
	name     string
	property string // row of the report's table of differences
	method   string
	path     string
}

// edgeCases returns requests to a table with the routes /health and /users/{id}. Common cases come
// first, because a report prints the first difference next to a router's speed.
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

// Reference returns the name of the router with which others are compared.
func (k *Kind) Reference() string {
	name := "net/http.ServeMux " + runtime.Version()
	k.mu.Lock()
	defer k.mu.Unlock()
	if slices.ContainsFunc(k.userTables, func(t userTable) bool { return !t.muxSupports }) {
		name += " (on your table, which it cannot have, with the most specific route)"
	}
	return name
}

// Exams writes the semantics tests into dir, those of users' tables first.
func (k *Kind) Exams(dir string) ([]wire.Workload, error) {
	table := []fixture.Route{{Method: "GET", Path: "/health"}, {Method: "GET", Path: "/users/{id}"}}
	raw, spec, err := formatTable(table, nil)
	if err != nil {
		return nil, err
	}
	var list []question
	for _, e := range edgeCases() {
		list = append(list, question{HTTPRequest: newRequest(e.method, e.path), caseName: e.name, property: e.property})
	}
	exam := wire.Workload{ID: examID, Fixture: fixture.RoutesFixture, N: len(spec.Routes), Op: router.OpServe, Spec: raw}
	exam, err = k.writeExam(dir, exam, list, serveMux)
	if err != nil {
		return nil, err
	}
	userExams, err := k.userExams(dir)
	return append(userExams, exam), err
}

// writeExam sets the answer of each question in list to that of the reference. It writes and stores
// the questions, and returns exam as writeQuestions does.
func (k *Kind) writeExam(dir string, exam wire.Workload, list []question, reference func(router.Spec) http.Handler) (wire.Workload, error) {
	spec, err := router.ParseSpec(exam.Spec)
	if err != nil {
		return exam, err
	}
	handler := reference(spec)
	for i := range list {
		if list[i].answer, err = router.Ask(handler, spec, list[i].HTTPRequest); err != nil {
			return exam, fmt.Errorf("%s: %w", exam.ID, err)
		}
	}
	return k.writeQuestions(dir, exam, list)
}

// mostSpecific returns the reference for tables that http.ServeMux does not support. At each
// segment, a literal has precedence over a parameter.
func mostSpecific(spec router.Spec) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := spec.Answer(wire.HTTPRequest{Method: r.Method, Path: r.URL.EscapedPath()})
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(a.Body) // if it fails, the answer differs
	})
}

// serveMux returns the reference for tables that http.ServeMux supports. It panics for others.
func serveMux(spec router.Spec) http.Handler {
	mux := http.NewServeMux()
	for _, route := range spec.Routes {
		path := route.BracePath()
		if strings.HasSuffix(path, "/") {
			path += "{$}" // otherwise the pattern would also match all longer paths
		}
		mux.HandleFunc(route.Method+" "+path, func(w http.ResponseWriter, r *http.Request) {
			route.Reply(w, r.PathValue)
		})
	}
	return mux
}

// Differ compares one answer of a contender with that of the reference. It returns false without a
// difference. The body of an error response, or of a response to HEAD, does not count. The caller
// must pass the answers of one contender in the order of the cases.
func (k *Kind) Differ(exam wire.Workload, a wire.Answer) (tare.Difference, bool) {
	list := k.questionsOf(exam)
	if a.Case == 0 { // the first answer of another contender
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
	if d.Got == d.Reference {
		return tare.Difference{}, false
	}
	d.Class, d.Says = classify(q.describeRequest(), d.Got, got, q.answer)
	if q.remark != "" {
		group := fmt.Sprint(q.remark, " ", d.Class, " ", got.Status, " ", q.answer.Status)
		d.Says = k.firstText(exam, group, d.Says)
	}
	return d, true
}

// firstText returns the text about a difference of the current contender. Similar differences form a
// group, and all get the text about the first of them.
func (k *Kind) firstText(exam wire.Workload, group, text string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.texts[exam.ID] == nil {
		k.texts[exam.ID] = map[string]string{}
	}
	if first, ok := k.texts[exam.ID][group]; ok {
		return first
	}
	k.texts[exam.ID][group] = text
	return text
}

func (k *Kind) forgetTexts(exam wire.Workload) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.texts, exam.ID)
}

// classify returns the class of a difference, and a text that follows the contender's name. request
// describes the request, and outcome got, the contender's answer. want is the answer of the
// reference.
func classify(request, outcome string, got, want router.Answer) (class tare.DifferenceClass, text string) {
	switch {
	case isRedirect(got) && isRedirect(want):
		return tare.DiffersInForm, fmt.Sprintf("redirects %s with %s", request, outcome)
	case isRedirect(got):
		return tare.DiffersInAcceptance, fmt.Sprintf("redirects %s to %s", request, redirectTarget(got))
	case isRejection(got) && isRejection(want):
		return tare.DiffersInForm, fmt.Sprintf("refuses %s with %d instead of %d", request, got.Status, want.Status)
	case isRejection(got):
		return tare.DiffersInAcceptance, fmt.Sprintf("refuses %s with %d", request, got.Status)
	case !isRejection(want) && !isRedirect(want): // both found a route, but another one or other values
		return tare.DiffersInValue, fmt.Sprintf("answers %s with %s", request, outcome)
	}
	return tare.DiffersInAcceptance, fmt.Sprintf("answers %s with %s", request, outcome)
}

func isRedirect(a router.Answer) bool  { return a.Status >= 300 && a.Status < 400 }
func isRejection(a router.Answer) bool { return a.Status >= 400 }

func redirectTarget(a router.Answer) string { return clipText(toLegible(a.Header["Location"])) }

// describeOutcome returns a short text about an answer, e.g. "404", "301 to /health", "200, id=7" or
// "200, route 0".
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

func toLegible(s string) string { return fixture.Legible([]byte(s)) }
