// Package manifests holds the manifests of deploy/kubernetes against Kubernetes'
// own types: a field that no object has is an error.
package manifests

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// objects are those that manifests have, by version and kind.
func objects() map[string]func() any {
	return map[string]func() any{
		"batch/v1 Job":        func() any { return new(batchv1.Job) },
		"apps/v1 StatefulSet": func() any { return new(appsv1.StatefulSet) },
		"v1 Service":          func() any { return new(corev1.Service) },
	}
}

func TestManifests(t *testing.T) {
	files, err := filepath.Glob("../../deploy/kubernetes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d manifests, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			if _, err := read(document); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// A field that is misspelt is found.
func TestMisspelt(t *testing.T) {
	for _, text := range []string{
		"apiVersion: batch/v1\nkind: Job\nspec: {completionMod: Indexed}\n",
		"apiVersion: batch/v1\nkind: Job\nspec: {completions: three}\n",
		"apiVersion: batch/v2\nkind: Job\n",
	} {
		if _, err := read([]byte(text)); err == nil {
			t.Errorf("taken: %s", text)
		}
	}
}

// read reads one document as the object that it says it is.
func read(document []byte) (any, error) {
	var head struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal(document, &head); err != nil {
		return nil, err
	}
	object, ok := objects()[head.APIVersion+" "+head.Kind]
	if !ok {
		return nil, &unknownError{head.APIVersion + " " + head.Kind}
	}
	into := object()
	return into, yaml.UnmarshalStrict(document, into)
}

type unknownError struct{ what string }

// Error is one line.
func (e *unknownError) Error() string { return e.what + " is none of the objects that are known here" }
