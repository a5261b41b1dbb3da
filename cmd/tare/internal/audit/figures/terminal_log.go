package figures

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// terminalLog returns the rule about this mistake: the measured server writes to a terminal.
func terminalLog() rule {
	return rule{audit.Rule{
		ID: "terminal-log", Severity: tare.Note, Title: "The measured server writes to a terminal.",
		Why:     "A line of log for each request goes through docker to the screen, one after another: a side that logs is measured with its terminal, and one that does not is not.",
		Do:      "start the server without -t, and give all sides the same log",
		Command: "tare run tiny", Lang: "text",
		Bad:  "~~~\ndocker run -it --rm -p 8080:8080 shop ./server\n~~~\n\n~~~\nab -k -c 10 -t 30 http://10.0.0.7:8080/\n~~~\n\nConcurrency Level:      10\nTime taken for tests:   30.000 seconds\nRequests per second:    900.00 [#/sec] (mean)\n",
		Good: "~~~\ndocker run -d --rm -p 8080:8080 shop ./server\n~~~\n\n~~~\nab -k -c 10 -t 30 http://10.0.0.7:8080/\n~~~\n\nConcurrency Level:      10\nTime taken for tests:   30.000 seconds\nRequests per second:    900.00 [#/sec] (mean)\n",
		Seen: []string{"tiny"},
	}, findTerminalLog}
}

var terminal = regexp.MustCompile(`^docker run\b[^|]*\s(?:-\w*t\w*|--tty)(?:\s|$)`)

func findTerminalLog(d *document, report reportFunc) {
	if len(d.loads) == 0 {
		return
	}
	n, line := 0, 0
	for _, c := range d.commands {
		options, _, _ := strings.Cut(c.text, " sh ")
		if terminal.MatchString(options) && strings.Contains(c.text, " -p ") {
			if n++; n == 1 {
				line = c.line
			}
		}
	}
	if n > 0 {
		what := "the server has a terminal (-t)"
		if n > 1 {
			what = fmt.Sprintf("%d servers have a terminal (-t)", n)
		}
		report(line, what+": what they log of each request is written there while they are measured")
	}
}
