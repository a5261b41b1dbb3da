package figures

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// bodiesDiffer finds responses of different sizes to one path.
func bodiesDiffer() rule {
	return rule{Rule: audit.Rule{
		ID: "bodies-differ", Severity: tare.Warn,
		Title:   "The sides answer the same request with bodies of different sizes.",
		Why:     "Sides that answer differently do different work: the difference may be theirs, or that of the answer.",
		Do:      "compare the bodies byte by byte before comparing times",
		Command: compareCommand,
		Bad:     "# a\n\nDocument Path:          /v1/user\nDocument Length:        120 bytes\nConcurrency Level:      10\nTime taken for tests:   30.000 seconds\nRequests per second:    900.00 [#/sec] (mean)\n\n# b\n\nDocument Path:          /v1/user\nDocument Length:        2 bytes\nConcurrency Level:      10\nTime taken for tests:   30.000 seconds\nRequests per second:    1900.00 [#/sec] (mean)\n",
		Good:    "# a\n\nDocument Path:          /v1/user\nDocument Length:        120 bytes\nConcurrency Level:      10\nTime taken for tests:   30.000 seconds\nRequests per second:    900.00 [#/sec] (mean)\n\n# b\n\nDocument Path:          /v1/user\nDocument Length:        120 bytes\nConcurrency Level:      10\nTime taken for tests:   30.000 seconds\nRequests per second:    1900.00 [#/sec] (mean)\n",
		Seen:    []string{"tiny"},
	}, find: findBodiesDiffer}
}

func findBodiesDiffer(d *document, report reportFunc) {
	first := map[string]*loadReport{} // by path
	for _, l := range d.reports {
		if l.requestPath == "" || !l.responseSize.isKnown() {
			continue
		}
		if base := first[l.requestPath]; base == nil {
			first[l.requestPath] = l
		} else if base.responseSize.value != l.responseSize.value {
			report(l.responseSize.line, fmt.Sprintf("the answer to %s has %.0f bytes, and %.0f in line %d", l.requestPath, l.responseSize.value, base.responseSize.value, base.responseSize.line))
		}
	}
}
