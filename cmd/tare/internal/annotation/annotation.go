// Package annotation writes workflow commands of GitHub Actions, with which GitHub shows
// messages at lines of files, such as ::warning file=a.go,line=3,title=Slower::1.2 times
// (https://docs.github.com/actions/reference/workflow-commands-for-github-actions).
package annotation

import (
	"fmt"
	"io"
	"strings"
)

// maxShown is the number of annotations of one command that GitHub shows for a step.
const maxShown = 10

// Annotation is a message at a line of a file.
type Annotation struct {
	Command string // error, warning or notice
	Title   string
	Text    string
	File    string // "" if the message is about no file
	Line    int    // 0 means the first line
}

// Write writes the annotations in list, at most maxShown of each command.
func Write(w io.Writer, list []Annotation) error {
	var b strings.Builder
	count := map[string]int{}
	for _, a := range list {
		if count[a.Command]++; count[a.Command] > maxShown {
			continue
		}
		var position string
		if a.File != "" {
			position = fmt.Sprintf("file=%s,line=%d,", escapeProperty(a.File), max(1, a.Line))
		}
		fmt.Fprintf(&b, "::%s %stitle=%s::%s\n", a.Command, position, escapeProperty(a.Title), escapeData(a.Text))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// escapeData escapes a message.
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// escapeProperty escapes the value of a property, which a colon or a comma would end.
func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
