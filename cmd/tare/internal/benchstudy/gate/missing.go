package gate

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/internal/format"
)

type skippedCounts struct {
	broken   int // the head does not build or panics
	missing  int // the verdict does not cover it
	oneSided int // only one side has it
}

func (rep *Report) countSkipped() (n skippedCounts) {
	for _, entry := range rep.Skipped {
		switch {
		case entry.Broken:
			n.broken++
		case entry.OneSided:
			n.oneSided++
		default:
			n.missing++
		}
	}
	return n
}

// describeUncovered returns the end of the report's sentence, about benchmarks and metrics that the
// verdict does not cover, or "".
func (rep *Report) describeUncovered(n skippedCounts) string {
	text := ""
	if n.missing > 0 {
		text += fmt.Sprintf("; %d more %s not compared: %s", n.missing, format.Choose(n.missing, "was", "were"), rep.firstMissing())
	}
	if len(rep.unmeasuredMetrics) > 0 {
		text += "; " + format.List(rep.unmeasuredMetrics, "and") + " " + format.Choose(len(rep.unmeasuredMetrics), "was", "were") + " not measured"
	}
	if n.oneSided > 0 {
		text += fmt.Sprintf("; %d more %s on one side only", n.oneSided, format.Choose(n.oneSided, "is", "are"))
	}
	return text
}

// firstMissing returns the first missing entry, or only the reason if all have the same.
func (rep *Report) firstMissing() string {
	reasons, first := map[string]bool{}, Skipped{}
	for _, entry := range rep.Skipped {
		if entry.Broken || entry.OneSided {
			continue
		}
		if len(reasons) == 0 {
			first = entry
		}
		reasons[entry.Why] = true
	}
	why := strings.ReplaceAll(first.Why, "\n", " ")
	if len(reasons) == 1 {
		return why
	}
	return fmt.Sprintf("%s: %s (and others)", rep.shortName(first.What), why)
}

// skippedSeverity returns the severity with which a CI annotates a skipped benchmark: error,
// warning, or "" for no annotation. A missing one counts as a row that could not be decided.
func (rep *Report) skippedSeverity(entry Skipped) string {
	switch {
	case entry.Broken:
		return SeverityError
	case entry.OneSided, rep.Record, rep.OnInconclusive == project.PassOpen:
		return ""
	case rep.OnInconclusive == project.FailOpen:
		return SeverityError
	}
	return SeverityWarning
}
