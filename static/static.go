// Package static holds the styles, scripts and icons of the dashboard.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
)

//go:embed *.css *.js *.svg
var files embed.FS

// FS gives the files.
func FS() fs.FS { return files }

// Version is a digest of all files, which is part of their URLs so that
// browsers may keep them for ever.
func Version() string {
	sum := sha256.New()
	// What is embedded can always be read.
	names, _ := fs.Glob(files, "*")
	for _, name := range names {
		text, _ := files.ReadFile(name)
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
}
