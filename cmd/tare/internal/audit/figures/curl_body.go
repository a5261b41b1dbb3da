package figures

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// curlBody finds commands such as curl -d order.json URL, which send the text order.json itself.
func curlBody() rule {
	return rule{Rule: audit.Rule{
		ID: "curl-body", Severity: tare.Warn,
		Title:   "curl posts the name of a file instead of its content.",
		Why:     "Without @ curl sends the characters of the name: the server was tried with another request than it was measured with, and an error may have gone unseen.",
		Do:      "write -d @FILE, or --data-binary @FILE to keep the lines",
		Command: "tare load -X POST --body @event.json http://127.0.0.1:8080/events",
		Bad:     "~~~\ncurl -X POST -d order.json http://127.0.0.1:8080/orders\n~~~\n",
		Good:    "~~~\ncurl -X POST -d @order.json http://127.0.0.1:8080/orders\n~~~\n",
		Seen:    []string{"ingest"},
	}, find: findCurlBody}
}

// fileBodyRE matches a body that is the name of a file without @. The group is the name.
var fileBodyRE = lazyregexp.New(`^curl\b.*\s(?:-d|--data|--data-binary)[ =]?['"]?([\w./-]+\.(?:json|xml|txt|bin|csv|yaml))['"]?(?:\s|$)`)

func findCurlBody(d *document, report reportFunc) {
	for _, c := range d.commands {
		if m := fileBodyRE.FindStringSubmatch(c.text); m != nil {
			report(c.line, fmt.Sprintf("this sends the %d characters %q, not the file", len(m[1]), m[1]))
		}
	}
}
