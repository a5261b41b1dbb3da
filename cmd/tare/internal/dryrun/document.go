package dryrun

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/report"
)

// Schema names the format of a Document. Changes are additive.
const Schema = "tare.dryrun/1"

// Document describes what a command would do.
type Document struct {
	Schema   string   `json:"schema"`
	Command  string   `json:"command"`            // e.g. tare run
	Builds   []Build  `json:"builds"`             // in the order of the studies
	Studies  []Study  `json:"studies"`            // in the order in which they are measured
	Seconds  float64  `json:"seconds"`            // of all studies together; 0 means unknown
	Machines []string `json:"machines,omitempty"` // machines of --on, each of which builds and measures everything
	Writes   []File   `json:"writes"`
	Notes    []string `json:"notes"` // one line each

	Requests []wire.HTTPRequest `json:"requests,omitempty"` // of tare load, in the order in which they are sent
}

// Build is a program that would be built, unless the cache has it.
type Build struct {
	Name     string `json:"name"`
	Revision string `json:"revision"`     // versions of the measured modules, or a commit; "" means the sources as they are
	Sources  string `json:"sources"`      // directory, or the file that sources are generated from
	Go       string `json:"go,omitempty"` // toolchain; "" means the machine's
}

// Study is a study that would be measured.
type Study struct {
	ID         string            `json:"id"`
	Question   string            `json:"question"`
	Contenders []string          `json:"contenders"` // the baseline too, but not the control and the null contender
	Workloads  []string          `json:"workloads"`
	Rounds     int               `json:"rounds"`  // number of rounds; 0 means as many as Seconds are enough for
	Least      int               `json:"least"`   // minimum number of rounds, even if they take longer than Seconds; 0 means no minimum
	Seconds    float64           `json:"seconds"` // time of the rounds and pilots; 0 means unknown
	Left       []tare.NotWeighed `json:"left"`    // parts that are not measured
}

// File is a file or directory that would be written.
type File struct {
	Path string `json:"path"`
	What string `json:"what"`
}

// addSeconds sets the time of all studies together, or 0 if the time of one is unknown.
func (d *Document) addSeconds() {
	d.Seconds = 0
	for _, s := range d.Studies {
		if s.Seconds == 0 {
			d.Seconds = 0
			return
		}
		d.Seconds += s.Seconds
	}
}

// formatSeconds formats a time in seconds.
func formatSeconds(s float64) string { return cmdenv.Seconds(time.Duration(s * float64(time.Second))) }

// formatLength returns how long a study is measured, in words.
func (s Study) formatLength() string {
	switch {
	case s.Rounds > 0:
		return format.Count(s.Rounds, "round")
	case s.Seconds == 0:
		return "as long as it takes"
	case s.Least > 0:
		return fmt.Sprintf("%s, longer if %s take longer", formatSeconds(s.Seconds), format.Count(s.Least, "round"))
	}
	return "at most " + formatSeconds(s.Seconds)
}

// Text writes the document for a terminal.
func (d Document) Text(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	writeHeading := func(title string, rows int) {
		fmt.Fprintf(tw, "%s\n", title)
		if rows == 0 {
			fmt.Fprintln(tw, "  nothing")
		}
	}
	writeHeading("would build, unless it is built already", len(d.Builds))
	for _, b := range d.Builds {
		revision := b.Revision
		if b.Go != "" {
			revision += " with " + b.Go
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\n", b.Name, strings.TrimSpace(revision), b.Sources)
	}
	writeHeading("would measure", len(d.Studies))
	for _, s := range d.Studies {
		fmt.Fprintf(tw, "  %s\t%s × %s\t%s\n", s.ID, format.Count(len(s.Contenders), "contender"), format.Count(len(s.Workloads), "workload"), s.formatLength())
	}
	if len(d.Studies) > 1 && d.Seconds > 0 {
		fmt.Fprintf(tw, "  in all\t\t%s\n", formatSeconds(d.Seconds))
	}
	writeHeading("would write", len(d.Writes))
	for _, f := range d.Writes {
		fmt.Fprintf(tw, "  %s\t%s\n", f.Path, f.What)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, s := range d.Studies {
		if len(d.Studies) == 1 {
			cmdenv.Paragraph(w, "contenders  ", "            ", strings.Join(s.Contenders, ", "), 0)
			cmdenv.Paragraph(w, "workloads   ", "            ", strings.Join(s.Workloads, ", "), 0)
		}
		for _, l := range s.Left {
			fmt.Fprintf(w, "%s: %s: %s\n", s.ID, l.What, report.Legible(l.Why))
		}
	}
	for _, note := range d.Notes {
		if _, err := fmt.Fprintln(w, report.Legible(note)); err != nil {
			return err
		}
	}
	return nil
}
