// Package model contains the code that protoc-gen-go generates from fixture.proto.
package model

//go:generate go run -C ../../../../tools/protogen . ../../contenders/copier/protobuf/model
