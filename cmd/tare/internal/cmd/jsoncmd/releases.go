package jsoncmd

import (
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/jsonstudy"
)

// studyID returns the id of the study of a file. A study of releases has another one than a study of
// codecs, because the history compares results with one id.
func (o *options) studyID(file string) string {
	id := jsonstudy.StudyID(file, o.typ)
	if o.releases.IsSet() {
		id += "-go"
	}
	return id
}

// releaseAdvice returns the description of a result of --go.
func (d *documentStudy) releaseAdvice(res *tare.Result) jsonstudy.ReleaseAdvice {
	return jsonstudy.ReleaseAdvice{Result: res, Docs: d.docs, Total: d.total, Type: d.typ, Toolchains: d.toolchains}
}
