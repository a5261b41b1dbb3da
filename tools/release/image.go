package main

import (
	"bytes"
	"compress/gzip"
	"crypto/md5" //nolint:gosec // the format of Debian's md5sums
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// descriptor identifies a blob of an image, as in the OCI image format.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Platform    map[string]string `json:"platform,omitempty"`
}

// Media types of the OCI image format.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// writeImage writes a container image with one layer into dir, as an OCI layout. The index refers to the manifest,
// and that to layer and configuration. A static command needs no base image.
func writeImage(dir, version, arch string, files []file, when time.Time) error {
	blobs := filepath.Join(dir, "blobs", "sha256")
	if err := os.MkdirAll(blobs, 0o755); err != nil {
		return err
	}
	writeBlob := func(mediaType string, text []byte) (descriptor, error) {
		sum := fmt.Sprintf("%x", sha256.Sum256(text))
		return descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: len(text)}, os.WriteFile(filepath.Join(blobs, sum), text, 0o644)
	}
	writeJSON := func(mediaType string, v any) (descriptor, error) {
		text, err := json.Marshal(v)
		if err != nil {
			return descriptor{}, err
		}
		return writeBlob(mediaType, text)
	}
	packed, err := packTar(files, when)
	if err != nil {
		return err
	}
	unpacked, err := unpackGzip(packed)
	if err != nil {
		return err
	}
	layer, err := writeBlob(typeLayer, packed)
	if err != nil {
		return err
	}
	config, err := writeJSON(typeConfig, map[string]any{
		"created": when.UTC().Format(time.RFC3339), "architecture": arch, "os": "linux",
		"config": map[string]any{"Entrypoint": []string{"/usr/bin/tare"}, "Labels": map[string]string{"org.opencontainers.image.version": version}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(unpacked))}},
	})
	if err != nil {
		return err
	}
	manifest, err := writeJSON(typeManifest, map[string]any{"schemaVersion": 2, "mediaType": typeManifest, "config": config, "layers": []descriptor{layer}})
	if err != nil {
		return err
	}
	manifest.Annotations = map[string]string{"org.opencontainers.image.ref.name": version}
	manifest.Platform = map[string]string{"architecture": arch, "os": "linux"}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": typeIndex, "manifests": []descriptor{manifest}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "index.json"), index, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "oci-layout"), []byte(`{"imageLayoutVersion":"1.0.0"}`), 0o644)
}

// readImage returns the unpacked layer of an image, after checking digests.
func readImage(dir string) ([]byte, error) {
	var index struct {
		Manifests []descriptor `json:"manifests"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err == nil {
		err = json.Unmarshal(text, &index)
	}
	if err != nil {
		return nil, fmt.Errorf("read index.json of the image: %w", err)
	}
	if len(index.Manifests) != 1 {
		return nil, fmt.Errorf("index.json of the image has %d manifests, not one", len(index.Manifests))
	}
	var manifest struct {
		Layers []descriptor `json:"layers"`
	}
	if text, err = readBlob(dir, index.Manifests[0]); err == nil {
		err = json.Unmarshal(text, &manifest)
	}
	if err != nil {
		return nil, fmt.Errorf("read the manifest of the image: %w", err)
	}
	if len(manifest.Layers) != 1 {
		return nil, fmt.Errorf("the manifest of the image has %d layers, not one", len(manifest.Layers))
	}
	if text, err = readBlob(dir, manifest.Layers[0]); err != nil {
		return nil, err
	}
	return unpackGzip(text)
}

func readBlob(dir string, d descriptor) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, "blobs", "sha256", d.Digest[len("sha256:"):]))
	if err == nil && fmt.Sprintf("sha256:%x", sha256.Sum256(text)) != d.Digest {
		err = fmt.Errorf("blob %s has another digest", d.Digest)
	}
	return text, err
}

func unpackGzip(text []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func md5Of(text []byte) string { return fmt.Sprintf("%x", md5.Sum(text)) } //nolint:gosec // the format of Debian's md5sums
