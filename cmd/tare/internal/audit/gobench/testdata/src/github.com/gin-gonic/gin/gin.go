// Package gin stands in for the framework.
package gin

import "net/http"

type Engine struct{}

func New() *Engine     { return &Engine{} }
func Default() *Engine { return &Engine{} }

func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusOK) }
