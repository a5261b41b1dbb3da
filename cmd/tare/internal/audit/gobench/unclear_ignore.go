package gobench

import (
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// unclearIgnore finds comments such as "//tare:ignore sleep" that have no effect. They name no
// known rule or give no reason.
func unclearIgnore() rule {
	return rule{Rule: audit.Rule{
		ID: "unclear-ignore", Severity: tare.Warn,
		Title:   "A tare:ignore comment names no rule, or gives no reason.",
		Why:     "It switches nothing off. Who reads it later cannot tell whether its reason still holds.",
		Do:      "write //tare:ignore RULE reason, on the line or the one before, or in the comment of the function",
		Command: "tare audit --rules",
	}, find: func(in *input) {
		for _, u := range in.suite.unclear {
			in.report(u.comment, "%s", u.err)
		}
	}}
}
