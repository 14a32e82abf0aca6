// Package views shows what the server found: view models, which are also the
// JSON of each page, and the templ components over them.
//
// The models hold what is to be shown, computed and in order; components choose
// nothing but words and marks. The package knows nothing of the core but the
// nouns of package model. Whatever comes from an object of the mesh may be
// hostile, so text reaches a page through templ's escaping only.
package views
