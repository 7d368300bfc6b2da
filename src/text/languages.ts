// The languages that are highlighted, with the names, file name endings and whole file names that stand for them. Only what users of
// a forge expect: every language takes memory while the thread runs.

/** Name of the language in highlight.js -> other names. Its own name counts, too. */
const NAMES: { readonly [language: string]: string } = {
  ada: 'adb ads',
  apache: 'apacheconf htaccess .htaccess',
  asciidoc: 'adoc',
  awk: '',
  bash: 'sh zsh ksh bats .bashrc .bash_profile .profile .zshrc PKGBUILD',
  c: 'h',
  clojure: 'clj cljs cljc edn',
  cmake: 'CMakeLists.txt',
  coffeescript: 'coffee',
  cpp: 'cc c++ cxx hh hpp hxx h++ ino',
  crystal: 'cr',
  csharp: 'cs c#',
  css: '',
  d: '',
  dart: '',
  delphi: 'pas pascal dpr',
  diff: 'patch',
  django: 'jinja jinja2 j2',
  dockerfile: 'docker Dockerfile Containerfile',
  dos: 'bat cmd',
  elixir: 'ex exs',
  elm: '',
  erb: '',
  erlang: 'erl hrl',
  fortran: 'f f90 f95 f03',
  fsharp: 'fs fsi fsx f#',
  gherkin: 'feature',
  glsl: 'vert frag',
  go: 'golang',
  gradle: '',
  graphql: 'gql',
  groovy: 'Jenkinsfile',
  haml: '',
  handlebars: 'hbs mustache',
  haskell: 'hs',
  http: '',
  ini: 'toml cfg conf .editorconfig .gitconfig .gitmodules .npmrc Pipfile Cargo.lock poetry.lock',
  java: '',
  javascript: 'js jsx mjs cjs',
  json: 'jsonc json5 webmanifest map composer.lock .babelrc .eslintrc .prettierrc',
  julia: 'jl',
  kotlin: 'kt kts',
  latex: 'tex sty cls',
  less: '',
  lisp: 'el cl lsp',
  llvm: 'll',
  lua: '',
  makefile: 'mk mak make Makefile GNUmakefile',
  markdown: 'md mkd mkdown',
  matlab: '',
  nginx: 'nginxconf nginx.conf',
  nim: '',
  nix: '',
  objectivec: 'm mm objc obj-c',
  ocaml: 'ml mli',
  perl: 'pl pm t',
  pgsql: 'postgres postgresql',
  php: 'php5 phtml',
  plaintext: '',
  powershell: 'ps1 psm1 psd1 pwsh ps',
  prolog: '',
  properties: '',
  protobuf: 'proto',
  puppet: 'pp',
  python: 'py pyw pyi py3 gyp SConstruct SConscript wscript',
  qml: '',
  r: '',
  ruby: 'rb gemspec rake podspec Gemfile Rakefile Vagrantfile Podfile Guardfile Capfile',
  rust: 'rs',
  scala: 'sbt sc',
  scheme: 'scm rkt ss',
  scss: 'sass',
  shell: 'console sh-session',
  smalltalk: 'st',
  sql: '',
  stylus: 'styl',
  swift: '',
  tcl: 'tk',
  thrift: '',
  typescript: 'ts tsx mts cts',
  vala: '',
  vbnet: 'vb',
  verilog: 'v sv svh',
  vhdl: 'vhd',
  vim: 'viml .vimrc',
  wasm: 'wat',
  x86asm: 'asm nasm',
  xml: 'html htm xhtml svg xsd xsl xslt rss atom plist vue svelte eta ejs csproj',
  yaml: 'yml'
}

/** Languages inside of a language. */
const INSIDE: { readonly [language: string]: readonly string[] } = {
  xml: ['css', 'javascript'],
  markdown: ['xml', 'css', 'javascript'],
  django: ['xml', 'css', 'javascript'],
  erb: ['ruby', 'xml', 'css', 'javascript'],
  handlebars: ['xml', 'css', 'javascript'],
  haml: ['ruby'],
  php: ['xml', 'css', 'javascript'],
  shell: ['bash'],
  dockerfile: ['bash']
}

const byName: ReadonlyMap<string, string> = new Map(
  Object.entries(NAMES).flatMap(([language, others]) =>
    [language, ...others.split(' ').filter(name => name !== '')].map(name => [name.toLowerCase(), language] as const)
  )
)

/** Returns the language of a name in a text, such as `js`; undefined for one that is not highlighted. */
export const languageOfName = (name: string): string | undefined => byName.get(name.toLowerCase())

/** Returns the language of a file by its name. */
export function languageOfFile(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const dot = name.lastIndexOf('.')
  // `Dockerfile.test` is a Dockerfile.
  return (
    byName.get(name) ?? (dot === -1 ? undefined : (byName.get(name.slice(dot + 1)) ?? byName.get(name.slice(0, dot))))
  )
}

export const languagesInside = (language: string): readonly string[] => INSIDE[language] ?? []

/** Names that are not those of highlight.js with a capital. */
const TITLES: { readonly [language: string]: string } = {
  bash: 'Shell',
  cmake: 'CMake',
  coffeescript: 'CoffeeScript',
  cpp: 'C++',
  csharp: 'C#',
  css: 'CSS',
  delphi: 'Pascal',
  django: 'Jinja',
  dos: 'Batch',
  erb: 'ERB',
  fsharp: 'F#',
  glsl: 'GLSL',
  graphql: 'GraphQL',
  javascript: 'JavaScript',
  latex: 'LaTeX',
  llvm: 'LLVM',
  matlab: 'MATLAB',
  objectivec: 'Objective-C',
  ocaml: 'OCaml',
  pgsql: 'SQL',
  php: 'PHP',
  powershell: 'PowerShell',
  protobuf: 'Protocol Buffers',
  qml: 'QML',
  scss: 'SCSS',
  sql: 'SQL',
  typescript: 'TypeScript',
  vbnet: 'Visual Basic',
  vhdl: 'VHDL',
  wasm: 'WebAssembly',
  x86asm: 'Assembly',
  xml: 'HTML and XML'
}
/** Notation of texts and data, which says little about a project. */
const NO_PROGRAMS = new Set(
  'apache asciidoc diff http ini json markdown nginx plaintext properties shell yaml'.split(' ')
)

/** Returns the name of a programming language for people; undefined for other languages. */
export function titleOfLanguage(language: string | undefined): string | undefined {
  if (language === undefined || NO_PROGRAMS.has(language)) return undefined
  return TITLES[language] ?? language.charAt(0).toUpperCase() + language.slice(1)
}
