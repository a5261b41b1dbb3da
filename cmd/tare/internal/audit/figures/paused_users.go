package figures

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/format"
)

// pausedUsers returns the rule about this mistake: the rate is that of pauses in the script, not of the server.
func pausedUsers() rule {
	return rule{audit.Rule{
		ID: "paused-users", Severity: tare.Warn, Title: "The rate is that of pauses in the script, not of the server.",
		Why:     "Virtual users that sleep between requests send as many as their number and pauses allow, to any server: sides get the same rate, and nothing of what they could do is seen.",
		Do:      "send at a rate (an arrival-rate executor, or tare load --rate), and look for the highest at which the latency still holds",
		Command: searchCommand, Lang: "text",
		Bad:  "| Metric | old (100 VUs) | new (100 VUs) |\n|---|---|---|\n| Throughput | 95.20 req/s | 96.10 req/s |\n| Avg Latency | 31.20 ms | 11.40 ms |\n",
		Good: "| Metric | old (100 VUs) | new (100 VUs) |\n|---|---|---|\n| Throughput | 1620.10 req/s | 4310.70 req/s |\n| Avg Latency | 61.20 ms | 23.10 ms |\n",
		Seen: []string{"https://github.com/chinmay-sawant/gopdfsuit", "https://github.com/MMortari/benchmarks"},
	}, findPausedUsers}
}

// mostlyPaused is the share of users with a request under way below which the script is the
// limit. Users that start one after another have half of it in the mean.
const mostlyPaused = 0.2

var usersIn = regexp.MustCompile(`(?i)\b(\d{1,6})\s*(?:vus?|virtual users)\b`)

func findPausedUsers(d *document, report reportFunc) {
	n, line, what := 0, 0, ""
	for _, l := range d.loads {
		if l.tool != "k6" || !l.connections.isKnown() || !l.rate.isKnown() || !l.mean.isKnown() {
			continue
		}
		if under := l.rate.value * l.mean.value; under < mostlyPaused*l.connections.value && l.connections.value >= 5 {
			if n++; n == 1 {
				line, what = l.rate.line, describePaused(l.rate.value, l.mean.value, l.connections.value)
			}
		}
	}
	if n > 0 {
		report(line, what+fmt.Sprintf(" (and so in %s)", format.Count(n, "report")))
	}
	type key struct {
		origin  int
		subject string
	}
	rates := map[key]measure{}
	for _, m := range d.measured {
		if m.kind == rateKind && m.origin >= 0 && m.origin < benchOrigin {
			if k := (key{m.origin, m.subject}); rates[k].line == 0 {
				rates[k] = m
			}
		}
	}
	for _, m := range d.measured {
		users := usersIn.FindStringSubmatch(m.subject)
		rate := rates[key{m.origin, m.subject}]
		if m.kind != timeKind || users == nil || rate.line == 0 || !meanHeader.MatchString(m.metric) {
			continue
		}
		vus, err := strconv.ParseFloat(users[1], 64)
		if under := rate.value * m.value; err == nil && vus >= 5 && under < mostlyPaused*vus {
			report(rate.line, quote(m.subject)+": "+describePaused(rate.value, m.value, vus))
		}
	}
}

func describePaused(rate, mean, users float64) string {
	return fmt.Sprintf("%s per second × %s in the mean are %s requests under way, with %.0f virtual users: the others paused", formatNumber(rate), formatTime(mean), formatNumber(rate*mean), users)
}
