package loadcmd

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/dryrun"
	"github.com/tarebench/tare/cmd/tare/internal/loadpage"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/cmd/tare/internal/traffic"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/load"
)

// This file implements tare load --dry-run, which prints the requests and sends none.

// describeFeed prints the format of --feed, a file of requests. It also prints which of its entries
// are not sent and why.
func describeFeed(f *traffic.Feed, file string, p *session.Progress) {
	if f.Kind != traffic.Unknown {
		text := fmt.Sprintf("%s is %s", traffic.FileName(file), f.Kind)
		if f.Unpacked != "" {
			text += " (" + f.Unpacked + ")"
		}
		p.Say(text)
	}
	// Broken has only the first invalid requests.
	for _, invalid := range f.Broken {
		p.Say(invalid.In(file) + "; left out")
	}
	if more := f.Lost - len(f.Broken); more > 0 {
		p.Say(fmt.Sprintf("and %s more that cannot be sent", loadpage.FormatCount(int64(more))))
	}
	// A HAR file also has cached responses and WebSockets, for example.
	var skipped []string
	for _, entries := range f.Skipped {
		skipped = append(skipped, format.Count(entries.Count, entries.Why))
	}
	if len(skipped) > 0 {
		p.Say("not sent, because they were no HTTP requests to a server: " + strings.Join(skipped, ", "))
	}
	if f.Nameless > 0 {
		p.Say(format.Count(f.Nameless, "header") + " without a valid name omitted")
	}
	if n := f.Untimed(); n > 0 && n < len(f.Requests) {
		p.Say("requests are sent in the order of the file, not of their times: " + format.Count(n, "request") + " without a usable time")
	}
	if f.Secrets > 0 {
		p.Say(format.Count(f.Secrets, "value") + " of headers, parameters and fields that hold secrets by their names omitted; --with-secrets sends them")
	}
	if f.More { // the file has more requests than a feed stores
		p.Say(fmt.Sprintf("only the first %s requests of the feed are sent", loadpage.FormatCount(int64(len(f.Requests)))))
	}
}

// printRequests prints the requests of --dry-run in their order, and opens no connection.
func printRequests(ctx context.Context, env cmdenv.Env, o options, p *session.Progress) error {
	var urls []string
	for _, s := range o.servers {
		urls = append(urls, s.url)
	}
	l := loadRun{options: o}
	if o.feed != nil {
		l.requests = o.feed.Requests
	} else {
		var err error
		if l.method, l.requests, err = o.readCalls(ctx, o.servers[0].target, env.In); err != nil {
			return err
		}
	}
	p.Say(fmt.Sprintf("%s for %s; nothing is sent", format.Count(len(l.requests), "request"), strings.Join(urls, ", ")))
	plan, err := l.newPlan(env)
	if err != nil {
		return err
	}
	defer plan.Close()
	if o.asJSON {
		for _, request := range l.requests {
			plan.Requests = append(plan.Requests, traffic.NewLine(request))
		}
		return plan.Print()
	}
	if err := plan.Say(p.Say); err != nil { // on stderr, as the requests are on stdout
		return err
	}
	p.Separate()
	out := bufio.NewWriter(env.Out)
	for _, request := range l.requests {
		writeRequest(out, request)
	}
	return out.Flush()
}

// newPlan returns the plan of --dry-run: what would be measured and written. The caller must close
// it.
func (l *loadRun) newPlan(env cmdenv.Env) (*dryrun.Plan, error) {
	o := l.options
	run := session.Options{On: o.on, Measuring: lab.Measuring{Budget: o.duration}}
	run.Format = o.resultFormat()
	plan, err := dryrun.New(env, "tare load", run)
	if err != nil {
		return nil, err
	}
	study := dryrun.Study{ID: comparisonID, Contenders: serverIDs(o.servers), Workloads: []string{"requests"}, Question: l.describeLoad()}
	isOpenEnded := o.requests > 0 || o.search // the number of requests or of steps decides the duration
	if !isOpenEnded {
		study.Seconds = o.duration.Seconds()
	}
	if len(o.servers) > 1 {
		const isLimit = false // the time is an estimate
		study.Question = describeComparison(o)
		plan.AddMeasurement(study, isLimit)
	} else {
		plan.AddUnsaved(study)
	}
	for _, name := range o.releases.Names() {
		plan.AddBuild(dryrun.Build{Name: name, Sources: strings.Join(o.program.packages, " "), Go: name})
	}
	plan.AddNote(study.Question)
	plan.AddFile(o.page, "the page")
	plan.AddFile(o.metrics, "the figures as OpenMetrics")
	return plan, nil
}

// writeRequest writes a request as text. A write error stays in w, whose Flush returns it.
func writeRequest(w *bufio.Writer, request load.Request) {
	fmt.Fprintf(w, "%s %s\n", request.Method, request.Path)
	for _, h := range request.Header {
		value := h[1]
		if !isText(value) {
			value = strconv.Quote(value)
		}
		fmt.Fprintf(w, "  %s: %s\n", h[0], value)
	}
	if len(request.Body) == 0 {
		return
	}
	body := string(request.Body)
	if !isText(body) {
		fmt.Fprintf(w, "\n  (%d bytes that are not text; --json prints them in base64)\n", len(body))
		return
	}
	fmt.Fprintln(w)
	for line := range strings.Lines(body) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			line = "  " + line
		}
		fmt.Fprintln(w, line)
	}
}

func isText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) && !strings.ContainsRune("\r\n\t", r) })
}
