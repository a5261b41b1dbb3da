// Package build turns the sources of a contender into a program that can be
// started: once per content, cached, and with an account of what the binary
// really contains.
package build

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/atomicfile"
)

// ManifestName is the file that describes a contender, next to its sources.
const ManifestName = "contender.json"

// Manifest is contender.json, the description of a contender in its own folder.
type Manifest struct {
	ID       string      `json:"id"`
	Kind     string      `json:"kind"`               // codec, router, …
	Variants []string    `json:"variants,omitempty"` // configurations of one binary; each is a contender of its own
	Trap     bool        `json:"trap,omitempty"`     // reproduces a published mistake
	Expect   tare.Expect `json:"expect,omitzero"`    // what a trap must come out as
	Why      string      `json:"why,omitempty"`      // one line: what it is
	Modules  []string    `json:"modules,omitempty"`  // claimed: path, path@version or std:package; the first names the contender
	Symbols  []string    `json:"symbols,omitempty"`  // claimed: parts of function names that must be linked
	Layers   []string    `json:"layers,omitempty"`   // declared middleware

	VariantLayers  map[string][]string     `json:"variant_layers,omitempty"`  // of variants that have others
	VariantAnswers map[string]tare.Answers `json:"variant_answers,omitempty"` // of variants that do only part of the work: how far their answers can be right

	Apps      []string `json:"apps,omitempty"`      // of a server: what it can serve
	Protocols []string `json:"protocols,omitempty"` // of an rpc contender: those it serves, the usual one first

	VariantProtocols map[string][]string `json:"variant_protocols,omitempty"` // of variants that speak others

	Source string   `json:"source,omitempty"` // directory of another contender, relative to this one, whose sources this is another build of
	Tags   []string `json:"tags,omitempty"`   // build tags

	Together bool `json:"together,omitempty"` // alone, it serves what its variants are side by side

	Unmaintained string `json:"unmaintained,omitempty"` // one line: the sign that the library is not maintained any more
}

// IDs returns the names under which studies can list the contender: the id, or
// one id-variant per variant.
func (m Manifest) IDs() []string {
	if len(m.Variants) == 0 {
		return []string{m.ID}
	}
	ids := make([]string, len(m.Variants))
	for i, v := range m.Variants {
		ids[i] = m.VariantID(v)
	}
	return ids
}

// LayersOf returns the middleware that a variant declares.
func (m Manifest) LayersOf(variant string) []string {
	if own, ok := m.VariantLayers[variant]; ok {
		return own
	}
	return m.Layers
}

// ProtocolsOf returns the protocols of a variant.
func (m Manifest) ProtocolsOf(variant string) []string {
	if own, ok := m.VariantProtocols[variant]; ok {
		return own
	}
	return m.Protocols
}

// VariantID returns the name of one variant, or of the contender itself if variant is "".
func (m Manifest) VariantID(variant string) string {
	if variant == "" {
		return m.ID
	}
	return m.ID + "-" + variant
}

// Leaf is a contender's folder: a main package with a manifest, or a manifest that names the other
// folder whose main package it builds differently.
type Leaf struct {
	Dir      string // of the manifest, absolute; the main package is in Src
	Manifest Manifest
	Go       string // toolchain to build it with, e.g. go1.25.5; empty means the machine's
}

// Real returns dir as an absolute path without symbolic links: replacements are relative to the
// real directory of a contender.
func Real(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	return abs, nil // it does not exist: opening it fails
}

// maxManifest is the maximum length of a manifest in bytes.
const maxManifest = 1 << 20

// ReadLeaf reads the manifest of the contender in dir. If there is none the error is
// fs.ErrNotExist.
func ReadLeaf(dir string) (Leaf, error) {
	abs, err := Real(dir)
	if err != nil {
		return Leaf{}, fmt.Errorf("contender %s: %w", dir, err)
	}
	file := filepath.Join(dir, ManifestName)
	src, err := atomicfile.ReadFile(file, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return Leaf{}, fmt.Errorf("no %s in %s: %w", ManifestName, dir, fs.ErrNotExist)
	}
	if err != nil {
		return Leaf{}, fmt.Errorf("reading a contender: %w", err)
	}
	m, err := parseManifest(src)
	if err != nil {
		return Leaf{}, fmt.Errorf("%s%w", file, err)
	}
	leaf := Leaf{Dir: abs, Manifest: m}
	if err := leaf.checkSourceDir(); err != nil {
		return Leaf{}, fmt.Errorf("%s%w", file, err)
	}
	return leaf, nil
}

// parseManifest reads a manifest strictly. Errors begin with ":line:col: ", or with ": " if there
// is no position, to follow a file name.
func parseManifest(src []byte) (Manifest, error) {
	var m Manifest
	d := json.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, manifestError(src, d.InputOffset(), err)
	}
	if _, err := d.Token(); err != io.EOF {
		return m, manifestError(src, d.InputOffset(), errors.New("more than one value"))
	}
	switch {
	case m.ID == "":
		return m, errors.New(`: no id; e.g. "id": "encoding-json"`)
	case m.Kind == "":
		return m, errors.New(`: no kind; e.g. "kind": "codec"`)
	case m.ID == tare.ControlID:
		return m, fmt.Errorf(": id %q is reserved", m.ID)
	case !m.Trap && !m.Expect.IsZero():
		return m, errors.New(`: expect without "trap": true; only a trap may be expected to come out void`)
	}
	if strings.ContainsAny(m.Unmaintained, "\r\n") {
		return m, errors.New(": unmaintained is one line")
	}
	for v := range m.VariantLayers {
		if !slices.Contains(m.Variants, v) {
			return m, fmt.Errorf(": variant_layers of %q, which is none of its variants", v)
		}
	}
	for v, own := range m.VariantProtocols {
		switch {
		case !slices.Contains(m.Variants, v):
			return m, fmt.Errorf(": variant_protocols of %q, which is none of its variants", v)
		case len(own) == 0:
			return m, fmt.Errorf(": variant_protocols of %s is empty; it speaks something", v)
		}
	}
	for v, answers := range m.VariantAnswers {
		switch {
		case !slices.Contains(m.Variants, v):
			return m, fmt.Errorf(": variant_answers of %q, which is none of its variants", v)
		case answers != tare.AnswersStatus:
			return m, fmt.Errorf(": variant_answers %q of %s; known: %s", answers, v, tare.AnswersStatus)
		}
	}
	for i, v := range m.Variants {
		if v == "" {
			return m, errors.New(": a variant without a name")
		}
		if slices.Contains(m.Variants[:i], v) {
			return m, fmt.Errorf(": variant %q is listed twice", v)
		}
	}
	for _, list := range []struct {
		what  string
		names []string
	}{{"app", m.Apps}, {"protocol", m.Protocols}} {
		for i, name := range list.names {
			if name == "" || slices.Contains(list.names[:i], name) {
				return m, fmt.Errorf(": %s %q is listed twice, or without a name", list.what, name)
			}
		}
	}
	return m, m.checkSource()
}

func manifestError(src []byte, at int64, err error) error {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &typed):
		at = typed.Offset
		err = fmt.Errorf("%s is a %s, not a %s", typed.Field, typed.Value, typed.Type)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		at, err = int64(len(src)), errors.New("the file ends too early")
	default:
		err = errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	at = min(max(at, 0), int64(len(src)))
	before := src[:at]
	line := 1 + bytes.Count(before, []byte("\n"))
	col := max(1, len(before)-bytes.LastIndexByte(before, '\n')-1)
	return fmt.Errorf(":%d:%d: %w", line, col, err)
}
