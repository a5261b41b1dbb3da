package figures

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// terminalLog finds measured servers with a terminal.
func terminalLog() rule {
	return rule{Rule: audit.Rule{
		ID: "terminal-log", Severity: tare.Note,
		Title:   "The measured server writes to a terminal.",
		Why:     "A line of log for each request goes through docker to the screen, one after another: a side that logs is measured with its terminal, and one that does not is not.",
		Do:      "start the server without -t, and give all sides the same log",
		Command: "tare run tiny",
		Bad:     "~~~\ndocker run -it --rm -p 8080:8080 shop ./server\n~~~\n\n~~~\nab -k -c 10 -t 30 http://10.0.0.7:8080/\n~~~\n\nConcurrency Level:      10\nTime taken for tests:   30.000 seconds\nRequests per second:    900.00 [#/sec] (mean)\n",
		Good:    "~~~\ndocker run -d --rm -p 8080:8080 shop ./server\n~~~\n\n~~~\nab -k -c 10 -t 30 http://10.0.0.7:8080/\n~~~\n\nConcurrency Level:      10\nTime taken for tests:   30.000 seconds\nRequests per second:    900.00 [#/sec] (mean)\n",
		Seen:    []string{"tiny"},
	}, find: findTerminalLog}
}

// dockerTerminalRE matches docker run with the option -t or --tty.
var dockerTerminalRE = lazyregexp.New(`^docker run\b[^|]*\s(?:-\w*t\w*|--tty)(?:\s|$)`)

// findTerminalLog reports the first command that starts a server with a terminal. It ignores pages
// without reports of load generators, because no server is measured there.
func findTerminalLog(d *document, report reportFunc) {
	if len(d.reports) == 0 {
		return
	}
	n, line := 0, 0
	for _, c := range d.commands {
		options, _, _ := strings.Cut(c.text, " sh ") // -t may also be an option of the shell's command
		isServer := strings.Contains(c.text, " -p ")
		if isServer && dockerTerminalRE.MatchString(options) {
			if n++; n == 1 {
				line = c.line
			}
		}
	}
	if n > 0 {
		servers := "the server has a terminal (-t)"
		if n > 1 {
			servers = fmt.Sprintf("%d servers have a terminal (-t)", n)
		}
		report(line, servers+": what they log of each request is written there while they are measured")
	}
}
