// Package annotation writes workflow commands of GitHub Actions that put messages
// on lines of files
// (https://docs.github.com/actions/reference/workflow-commands-for-github-actions).
package annotation

import (
	"fmt"
	"io"
	"strings"
)

// maxShown is the number of annotations of a command that GitHub shows of one step.
const maxShown = 10

// Annotation is a message.
type Annotation struct {
	Command string // error, warning or notice
	Title   string
	Text    string
	File    string // "" if it belongs to no file
	Line    int    // 0 means the first
}

// Write writes annotations, of each command as many as GitHub shows.
func Write(w io.Writer, list []Annotation) error {
	var b strings.Builder
	count := map[string]int{}
	for _, a := range list {
		if count[a.Command]++; count[a.Command] > maxShown {
			continue
		}
		var where string
		if a.File != "" {
			where = fmt.Sprintf("file=%s,line=%d,", escapeProperty(a.File), max(1, a.Line))
		}
		fmt.Fprintf(&b, "::%s %stitle=%s::%s\n", a.Command, where, escapeProperty(a.Title), escapeData(a.Text))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
