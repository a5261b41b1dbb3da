// Package model is what protoc-gen-go makes of batch.proto.
package model

//go:generate go run -C ../../../../tools/protogen . ../../contenders/server/nethttp-protobuf/model
