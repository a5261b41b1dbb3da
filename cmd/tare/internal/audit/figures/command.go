package figures

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

var (
	// plainURLRE matches a URL that needs no quotes in a shell.
	plainURLRE = lazyregexp.New(`^https?://[A-Za-z0-9.\[\]:_-]{1,200}(?:/[A-Za-z0-9._/-]{0,200})?$`)
	// plainNameRE matches a name without special characters.
	plainNameRE = lazyregexp.New(`^[A-Za-z0-9_]{1,100}$`)
)

// exactCommand adapts the command that a rule recommends to the finding in a line. It inserts the
// benchmark of the line, or the URL and the connections of the report around it.
func (d *document) exactCommand(command string, line int) string {
	switch command {
	case benchAllCommand:
		if d.benchAt(line) == nil && d.reportAt(line) != nil {
			return compareCommand
		}
	case benchCommand:
		if b := d.benchAt(line); b != nil {
			if name, _, _ := strings.Cut(b.name, "/"); plainNameRE.MatchString(name) {
				return command + " --bench '^Benchmark" + name + "$'"
			}
		}
	case loadCommand, searchCommand:
		l := d.reportAt(line)
		if l == nil || !plainURLRE.MatchString(l.url) {
			break
		}
		command = strings.Replace(command, exampleURL, l.url, 1)
		if c := l.connections.value; c >= 1 && c <= 10_000 {
			command = strings.Replace(command, "-c 50", fmt.Sprintf("-c %.0f", c), 1)
		}
	}
	return command
}

// benchAt returns the benchmark whose first run is in a line, or nil.
func (d *document) benchAt(line int) *bench {
	i, ok := slices.BinarySearchFunc(d.benches, line, func(b *bench, line int) int { return b.line - line })
	if !ok {
		return nil
	}
	return d.benches[i]
}

// reportAt returns the report that begins at most idleLines before a line, or nil.
func (d *document) reportAt(line int) *loadReport {
	i, ok := slices.BinarySearchFunc(d.reports, line, func(l *loadReport, line int) int { return l.line - line })
	if !ok {
		i-- // the report before the line
	}
	if i < 0 || line-d.reports[i].line > idleLines {
		return nil
	}
	return d.reports[i]
}
