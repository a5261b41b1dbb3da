package figures

import (
	"fmt"
	"strconv"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// pausedUsers finds rates that pauses of a load script limit. For example, 100 users send 95
// requests of 31 ms per second: only 3 requests are in flight.
func pausedUsers() rule {
	return rule{Rule: audit.Rule{
		ID: "paused-users", Severity: tare.Warn,
		Title:   "The rate is that of pauses in the script, not of the server.",
		Why:     "Virtual users that sleep between requests send as many as their number and pauses allow, to any server: sides get the same rate, and nothing of what they could do is seen.",
		Do:      "send at a rate (an arrival-rate executor, or tare load --rate), and look for the highest at which the latency still holds",
		Command: searchCommand,
		Bad:     "| Metric | old (100 VUs) | new (100 VUs) |\n|---|---|---|\n| Throughput | 95.20 req/s | 96.10 req/s |\n| Avg Latency | 31.20 ms | 11.40 ms |\n",
		Good:    "| Metric | old (100 VUs) | new (100 VUs) |\n|---|---|---|\n| Throughput | 1620.10 req/s | 4310.70 req/s |\n| Avg Latency | 61.20 ms | 23.10 ms |\n",
		Seen:    []string{"https://github.com/chinmay-sawant/gopdfsuit", "https://github.com/MMortari/benchmarks"},
	}, find: findPausedUsers}
}

const (
	// minBusyShare is the least share of users with a request in flight. Users that start one after
	// another halve the mean.
	minBusyShare = 0.2
	// minUsers is the least number of judged users.
	minUsers = 5
)

// usersInRE matches "100 VUs". The group is 100.
var usersInRE = lazyregexp.New(`(?i)\b(\d{1,6})\s*(?:vus?|virtual users)\b`)

func findPausedUsers(d *document, report reportFunc) {
	findPausedReports(d.reports, report)
	findPausedRows(d.figures, report)
}

// findPausedReports reports the first run of k6 with paused users, and the number of such runs.
func findPausedReports(reports []*loadReport, report reportFunc) {
	n, line, text := 0, 0, ""
	for _, l := range reports {
		if l.tool != "k6" || !l.connections.isKnown() || !l.rate.isKnown() || !l.meanLatency.isKnown() {
			continue
		}
		if l.hasArrivalRate {
			continue // k6 decides when a user sends
		}
		if arePaused(l.rate.value, l.meanLatency.value, l.connections.value) {
			if n++; n == 1 {
				line, text = l.rate.line, describePaused(l.rate.value, l.meanLatency.value, l.connections.value)
			}
		}
	}
	if n > 0 {
		report(line, text+fmt.Sprintf(" (and so in %s)", format.Count(n, "report")))
	}
}

// findPausedRows reports figures of tables with paused users, such as "old (100 VUs)".
func findPausedRows(all []figure, report reportFunc) {
	type key struct {
		origin  int
		subject string
	}
	rates := map[key]figure{} // the first rate of each subject of a table
	for _, f := range all {
		if f.kind == rateKind && f.isOfTable() {
			if k := (key{f.origin, f.subject}); rates[k].line == 0 {
				rates[k] = f
			}
		}
	}
	for _, f := range all {
		users := usersInRE.FindStringSubmatch(f.subject)
		rate := rates[key{f.origin, f.subject}]
		if f.kind != timeKind || users == nil || rate.line == 0 || !meanHeaderRE.MatchString(f.metric) {
			continue
		}
		vus, err := strconv.ParseFloat(users[1], 64)
		if err == nil && arePaused(rate.value, f.value, vus) {
			report(rate.line, quote(f.subject)+": "+describePaused(rate.value, f.value, vus))
		}
	}
}

// arePaused reports whether most virtual users pause. By Little's law, rate × mean latency (s) users
// have a request in flight.
func arePaused(rate, mean, users float64) bool {
	return rate*mean < minBusyShare*users && users >= minUsers
}

func describePaused(rate, mean, users float64) string {
	return fmt.Sprintf("%s per second × %s in the mean are %s requests in flight, with %.0f virtual users: the others paused", formatNumber(rate), formatTime(mean), formatNumber(rate*mean), users)
}
