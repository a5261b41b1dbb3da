// Package lazyregexp has regular expressions that are compiled when they are first used: a command then
// does not compile those of all other commands when it starts.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression. Its methods are those of [regexp.Regexp].
type Regexp struct{ compiled func() *regexp.Regexp }

// New returns a regular expression. Its first use panics if expression is invalid; internal/archtest
// checks the literals of package variables.
func New(expression string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })}
}

// Match calls [regexp.Regexp.Match].
func (r *Regexp) Match(b []byte) bool { return r.compiled().Match(b) }

// MatchString calls [regexp.Regexp.MatchString].
func (r *Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

// FindString calls [regexp.Regexp.FindString].
func (r *Regexp) FindString(s string) string { return r.compiled().FindString(s) }

// FindStringIndex calls [regexp.Regexp.FindStringIndex].
func (r *Regexp) FindStringIndex(s string) []int { return r.compiled().FindStringIndex(s) }

// FindStringSubmatch calls [regexp.Regexp.FindStringSubmatch].
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

// FindStringSubmatchIndex calls [regexp.Regexp.FindStringSubmatchIndex].
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compiled().FindStringSubmatchIndex(s)
}

// FindAllStringIndex calls [regexp.Regexp.FindAllStringIndex].
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch calls [regexp.Regexp.FindAllStringSubmatch].
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex calls [regexp.Regexp.FindAllStringSubmatchIndex].
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAll calls [regexp.Regexp.ReplaceAll].
func (r *Regexp) ReplaceAll(src, template []byte) []byte {
	return r.compiled().ReplaceAll(src, template)
}

// ReplaceAllString calls [regexp.Regexp.ReplaceAllString].
func (r *Regexp) ReplaceAllString(src, template string) string {
	return r.compiled().ReplaceAllString(src, template)
}

// ReplaceAllStringFunc calls [regexp.Regexp.ReplaceAllStringFunc].
func (r *Regexp) ReplaceAllStringFunc(src string, replace func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(src, replace)
}
