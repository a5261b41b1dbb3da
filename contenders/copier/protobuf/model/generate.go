// Package model is what protoc-gen-go makes of fixture.proto.
package model

//go:generate go run -C ../../../../tools/protogen . ../../contenders/copier/protobuf/model
