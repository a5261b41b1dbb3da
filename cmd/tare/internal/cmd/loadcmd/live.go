package loadcmd

import (
	"fmt"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/loadpage"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
)

// plan says what will be sent, in one line.
func (l *loading) plan() string { return "loading " + l.url + ": " + l.how() }

// how says how requests are sent.
func (l *loading) how() string {
	if l.o.search {
		return fmt.Sprintf("closed loop on 1 to %s, then open loop, %s a step", format.Count(l.o.most, "connection"), cmdenv.Seconds(l.o.duration))
	}
	on := format.Count(l.o.connections, "connection")
	if l.method != nil {
		on += " of gRPC (" + l.method.Kind() + ")"
	} else if l.o.http != http1 {
		on += " of HTTP/" + l.o.http
	}
	if l.o.http == http3 {
		on += " (quic-go, engine portable)"
	}
	if l.o.streams > 1 {
		on += fmt.Sprintf(", %d streams on each", l.o.streams)
	}
	loop := "closed loop on " + on
	if l.o.profile != nil {
		loop = "open loop at " + l.o.profile.String() + " on " + on
	}
	if l.o.preset == presetAB && !l.o.keepAlive {
		loop += ", one for each request"
	}
	if l.o.handshake == string(load.Full) || l.o.handshake == string(load.Resume) {
		loop += ", each request with a handshake of its own"
		if l.o.handshake == string(load.Resume) {
			loop += ", resumed"
		}
	}
	if l.o.think > 0 {
		loop += ", " + l.o.think.String() + " between an answer and the next request"
	}
	if l.o.requests > 0 {
		loop += ", " + loadpage.Counted(l.o.requests) + " requests"
	} else {
		loop += ", " + cmdenv.Seconds(l.o.duration)
	}
	if n := len(l.requests); n > 1 {
		loop += fmt.Sprintf(", %s requests in turn", loadpage.Counted(int64(n)))
	}
	if l.o.warm > 0 {
		loop += ", after " + cmdenv.Seconds(l.o.warm) + " to warm up"
	}
	return loop
}

// tick takes a second that has passed: it goes to the terminal and to the page
// that is watched.
func (l *loading) tick(t load.Trial, tick load.Tick) {
	l.seen.tick(tick.Second)
	cpu, memory := l.seen.perSecond()
	d := load.NewDocument(tick.SoFar, load.Documented{
		URL: l.url, Facts: l.known(l.seen.live(tick.SoFar)), Delay: l.o.delay, Profile: l.profile(t), ServerCPU: cpu, Memory: memory, SLO: l.o.slo,
	})
	how := l.how()
	if l.o.search {
		how = t.String()
	}
	if l.watched != nil {
		l.watched.Show(loadpage.Page{Document: d, Result: tick.SoFar, How: how})
	}
	p := panel{d: d, r: tick.SoFar, how: how, of: l.o.duration, style: l.Style(l.Err)}
	if l.o.requests > 0 {
		p.of = 0
	}
	at := fmt.Sprintf("%.0f s", tick.At.Seconds()+1)
	if l.o.search {
		at = how
	}
	l.Progress.Panel("load", at+": "+inOneLine(tick.Second), p.lines)
}

// inOneLine is a second that has passed.
func inOneLine(s load.Second) string {
	text := fmt.Sprintf("%s requests per second, p50 %s, p99 %s", loadpage.Counted(s.Requests), loadpage.Spell(int64(s.P50)), loadpage.Spell(int64(s.P99)))
	if s.Errors > 0 {
		text += fmt.Sprintf(", %s errors", loadpage.Counted(s.Errors))
	}
	return text
}
