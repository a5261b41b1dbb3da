package loadcmd

import (
	"fmt"
	"math"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/loadpage"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
)

func (l *loadRun) describePlan() string { return "loading " + l.url + ": " + l.describeLoad() }

// describeLoad describes how requests are sent. For example: "closed loop on 10 connections, 10 s,
// after 1 s to warm up".
func (l *loadRun) describeLoad() string {
	if l.options.search {
		return fmt.Sprintf("closed loop on 1 to %s, then open loop, %s a step", format.Count(l.options.maxConnections, "connection"), cmdenv.Seconds(l.options.duration))
	}
	connections := format.Count(l.options.connections, "connection")
	if l.method != nil {
		connections += " of gRPC (" + l.method.Kind() + ")"
	} else if l.options.http != http1 {
		connections += " of HTTP/" + l.options.http
	}
	if l.options.http == http3 {
		connections += " (quic-go, engine portable)"
	}
	if l.options.streams > 1 {
		connections += fmt.Sprintf(", %d streams on each", l.options.streams)
	}
	loop := "closed loop on " + connections
	if l.options.profile != nil {
		loop = "open loop at " + l.options.profile.String() + " on " + connections
	}
	if l.options.preset == presetAB && !l.options.keepAlive {
		loop += ", one for each request"
	}
	if l.options.handshake == string(load.Full) || l.options.handshake == string(load.Resume) {
		loop += ", each request with a handshake of its own"
		if l.options.handshake == string(load.Resume) {
			loop += ", resumed"
		}
	}
	if l.options.think > 0 {
		loop += ", " + l.options.think.String() + " between an answer and the next request"
	}
	if l.options.requests > 0 {
		loop += ", " + loadpage.FormatCount(l.options.requests) + " requests"
	} else {
		loop += ", " + cmdenv.Seconds(l.options.duration)
	}
	if n := len(l.requests); n > 1 {
		loop += fmt.Sprintf(", %s requests in turn", loadpage.FormatCount(int64(n)))
	}
	if l.options.warm > 0 {
		loop += ", after " + cmdenv.Seconds(l.options.warm) + " to warm up"
	}
	return loop
}

// showSecond shows a finished second of a measurement on the terminal and on the page.
func (l *loadRun) showSecond(t load.Trial, tick load.Tick) {
	l.observed.recordSecond(tick.Second)
	cpu, memory := l.observed.perSecond()
	d := load.NewDocument(tick.SoFar, load.Documented{
		URL: l.url, Facts: l.withPath(l.observed.liveFacts(tick.SoFar)), Delay: l.options.delay, Profile: l.profileFor(t), ServerCPU: cpu, Memory: memory, SLO: l.options.slo,
	})
	loadText := l.describeLoad()
	if l.options.search {
		loadText = t.String()
	}
	if l.watched != nil {
		l.watched.Show(loadpage.Page{Document: d, Result: tick.SoFar, How: loadText})
	}
	p := panel{document: d, result: tick.SoFar, loadText: loadText, duration: l.options.duration, style: l.Style(l.Err)}
	if l.options.requests > 0 {
		p.duration = 0 // the measurement ends by its number of requests
	}
	title := fmt.Sprintf("%d s", countSeconds(tick.At))
	if l.options.search {
		title = loadText
	}
	l.Progress.Panel("load", title+": "+formatSecond(tick.Second), countSeconds(tick.At), int(p.duration.Seconds()), p.drawLines)
}

// countSeconds returns the number of finished seconds, the last of which began at start.
func countSeconds(start time.Duration) int { return int(math.Round(start.Seconds())) + 1 }

func formatSecond(s load.Second) string {
	text := fmt.Sprintf("%s requests per second, p50 %s, p99 %s", loadpage.FormatCount(s.Requests), loadpage.FormatTime(int64(s.P50)), loadpage.FormatTime(int64(s.P99)))
	if s.Errors > 0 {
		text += fmt.Sprintf(", %s errors", loadpage.FormatCount(s.Errors))
	}
	return text
}
