// Joins the modules of server, worker and completion into one file each: to find, read and link a module takes Node.js longer than to
// run it. It needs no parser, because the compiler begins a line with each import and export, and writes it in one of a few forms; it
// throws an error for any other. A module stays a function of its own with unchanged lines, so that stack traces lead to the sources
// (src/lib/source-stack.ts), and runs when the first module imports it. Packages stay outside.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const IMPORT = /^import (?:(\w+)(?:, )?)?(?:\{(.*)\}|\* as (\w+))? from '([^']+)';$/
const REEXPORT = /^export \{(.*)\} from '([^']+)';$/
const LIST = /^export \{(.*)\};$/
const DECLARATION = /^export (default )?(?:const|(?:async )?function\*?|class) (\w+|\{[^}]*\})/
const DYNAMIC = /\bimport\('([^']+)'\)/g

/** Returns the text of the file at `output` that runs the module `entry`, and at which line each other module begins. */
function bundle(entry, output) {
  const modules = new Map()
  const add = path => {
    if (modules.has(path)) return
    modules.set(path, { id: modules.size, ...parse(path) })
    for (const each of [...modules.get(path).static, ...modules.get(path).dynamic].filter(isPath)) add(each)
  }
  add(entry)
  const packages = [...new Set([...modules.values()].flatMap(module => module.static.filter(name => !isPath(name))))]
  const source = name => (isPath(name) ? `$${modules.get(name).id}()` : `$packages[${packages.indexOf(name)}]`)
  const write = writer({ modules, packages, source, output })
  const atStart = packagesOf(entry, modules)
  const lines = []
  const parts = [
    ...atStart.map(name => `import * as $p${packages.indexOf(name)} from '${name}';`),
    `const $names = ${JSON.stringify(packages)}, $packages = [], $coming = [], $modules = [];`,
    ...atStart.map(name => `$packages[${packages.indexOf(name)}] = $p${packages.indexOf(name)};`),
    'const $load = id => $coming[id] ??= $packages[id] ? true : import($names[id]).then(found => ($packages[id] = found));',
    'const $dynamic = (module, needed) => Promise.all(needed.map($load)).then(module);'
  ]
  let line = parts.length + 1
  for (const [path, module] of modules) {
    if (path === entry) continue
    parts.push(`function $${module.id}() { return $modules[${module.id}] ??= (() => {`)
    lines.push([line + 1, relative(dirname(output), path)])
    const exports = module.exports.map(each => (typeof each === 'string' ? each : each(source)))
    parts.push(write(path), `return { ${exports.join(', ')} }; })(); }`)
    line += module.text.split('\n').length + 2
  }
  lines.push([line, relative(dirname(output), entry)])
  return { text: [...parts, write(entry), ''].join('\n'), lines }
}

/** Writes a bundle with its table of lines. */
export function writeBundle(entry, output) {
  const { text, lines } = bundle(entry, output)
  mkdirSync(dirname(output), { recursive: true })
  writeFileSync(`${output}.lines.json`, JSON.stringify(lines))
  writeFileSync(output, text)
}

const isPath = name => name.startsWith('/')
const lookUp = (from, name) => (name.startsWith('.') ? join(dirname(from), name) : name)
const listOf = text => text.split(',').flatMap(part => part.trim() || [])
/** `a as b` of an import or export, as in the pattern of a declaration. */
const renamed = text => listOf(text).map(part => part.replace(' as ', ': '))

function parse(path) {
  const text = readFileSync(path, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '')
  const found = { text, static: [], dynamic: [], exports: [] }
  for (const line of text.split('\n')) {
    if (/^import /.test(line)) found.static.push(lookUp(path, matched(IMPORT, line, path)[4]))
    if (/^export /.test(line)) addExports(found, line, path)
  }
  for (const [, name] of text.matchAll(DYNAMIC)) found.dynamic.push(lookUp(path, name))
  return found
}

function addExports(found, line, path) {
  const again = REEXPORT.exec(line)
  if (again) {
    const from = lookUp(path, again[2])
    found.static.push(from)
    for (const [name, as = name] of listOf(again[1]).map(part => part.split(' as ')))
      found.exports.push(source => `${as}: ${source(from)}.${name}`)
    return
  }
  const list = LIST.exec(line)
  if (list) return void found.exports.push(...listOf(list[1]).map(part => part.split(' as ').reverse().join(': ')))
  const [, isDefault, name] = matched(DECLARATION, line, path)
  if (isDefault) found.exports.push(`default: ${name}`)
  else found.exports.push(...(name.startsWith('{') ? listOf(name.slice(1, -1)) : [name]))
}

function matched(form, line, path) {
  const found = form.exec(line)
  if (!found) throw new Error(`${path}: a bundle cannot contain this form: ${line}`)
  return found
}

/** The packages that a module needs before it can run. */
function packagesOf(entry, modules) {
  const [seen, needed] = [new Set(), new Set()]
  const visit = path => {
    if (!isPath(path)) return needed.add(path)
    if (seen.has(path)) return
    seen.add(path)
    for (const each of modules.get(path).static) visit(each)
  }
  visit(entry)
  return [...needed]
}

/** Returns a function that writes a module for the bundle. It keeps the number of lines, and mostly the columns. */
function writer({ modules, packages, source, output }) {
  const dynamic = path => {
    const needed = packagesOf(path, modules).map(name => packages.indexOf(name))
    return `$dynamic($${modules.get(path).id}, [${needed.join(', ')}])`
  }
  return path => {
    const writeLine = line => {
      const found = IMPORT.exec(line)
      if (found) {
        const [, own, names = '', whole, from] = found
        const bound = [...(own ? [`default: ${own}`] : []), ...renamed(names)]
        return `const ${whole ?? `{ ${bound.join(', ')} }`} = ${source(lookUp(path, from))};`
      }
      const again = REEXPORT.exec(line)
      if (again) return `${source(lookUp(path, again[2]))};`
      if (LIST.test(line)) return ''
      return line.replace(/^export (default )?/, start => ' '.repeat(start.length))
    }
    const here = `new URL(${JSON.stringify(relative(dirname(output), path))}, import.meta.url).href`
    return (
      modules
        .get(path)
        .text.split('\n')
        .map(writeLine)
        .join('\n')
        .replaceAll(DYNAMIC, (all, name) => (isPath(lookUp(path, name)) ? dynamic(lookUp(path, name)) : all))
        .replaceAll('import.meta.url', here)
        // V8 needs two bytes for each character of a text that contains one of these.
        .replaceAll(/[^\0-\xff]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
    )
  }
}
