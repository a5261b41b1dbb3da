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
	// plainNameRE matches the name of a benchmark without special characters of regular expressions or
	// of the shell.
	plainNameRE = lazyregexp.New(`^[A-Za-z0-9_]{1,100}$`)
)

// exactCommand adapts the command that a rule recommends, e.g. "tare bench --base main", to a finding
// in a line: it adds the benchmark in this line, or replaces the example URL and the number of
// connections by those of the report of a load generator around the line.
func (d *document) exactCommand(command string, line int) string {
	switch command {
	case benchAllCommand:
		if d.benchAt(line) == nil && d.loadAt(line) != nil {
			return compareCommand // the finding is about servers, not benchmarks
		}
	case benchCommand:
		if b := d.benchAt(line); b != nil {
			if name, _, _ := strings.Cut(b.name, "/"); plainNameRE.MatchString(name) {
				return command + " --bench '^Benchmark" + name + "$'"
			}
		}
	case loadCommand, searchCommand:
		l := d.loadAt(line)
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

// benchAt returns the benchmark whose first run is in a line, or nil. d.benches is sorted by line.
func (d *document) benchAt(line int) *bench {
	i, ok := slices.BinarySearchFunc(d.benches, line, func(b *bench, line int) int { return b.line - line })
	if !ok {
		return nil
	}
	return d.benches[i]
}

// loadAt returns the report of a load generator around a line: the last one that begins in the line or
// at most idleLines before it. It returns nil if there is none.
func (d *document) loadAt(line int) *loadReport {
	i, ok := slices.BinarySearchFunc(d.loads, line, func(l *loadReport, line int) int { return l.line - line })
	if !ok {
		i-- // the report before the line
	}
	if i < 0 || line-d.loads[i].line > idleLines {
		return nil
	}
	return d.loads[i]
}
