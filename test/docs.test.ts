// The pages for people: every link has a target, every page is in the index, and paths of pages in the sources exist.
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { root } from '../src/config.js'
import { HOME_FOLDERS, hostKeyPaths } from '../src/home.js'
import { tags } from '../src/server/openapi/about.js'
import t from './helpers/tap.js'
import { filesBelow, pages, readText } from './helpers/texts.js'

/** Anchors as GitHub makes them from headings; a second heading of the same name gets a number. */
function anchorsOf(page: string): string[] {
  const counts = new Map<string, number>()
  return [...withoutCode(readText(page)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
    const count = counts.get(anchor) ?? 0
    counts.set(anchor, count + 1)
    return count === 0 ? anchor : `${anchor}-${count}`
  })
}

const withoutCode = (text: string) => text.replace(/^```[\s\S]*?^```/gm, '')

function linksOf(page: string): string[] {
  const text = withoutCode(readText(page)).replace(/`[^`\n]+`/g, '')
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter(link => !/^[a-z]+:/.test(link))
}

t.test('every relative link leads to an existing file and heading', async t => {
  const broken = pages.flatMap(page =>
    linksOf(page)
      .filter(link => !resolves(page, link))
      .map(link => `${page}: ${link}`)
  )
  t.same(broken, [])
  t.ok(pages.flatMap(linksOf).length > 50, 'links are found')
})

function resolves(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page : normalize(join(dirname(page), path))
  if (!existsSync(join(root, target))) return false
  return anchor === undefined || anchorsOf(target).includes(anchor)
}

t.test('the index has every page of docs', async t => {
  const listed = linksOf('docs/README.md').map(link => join('docs', link.split('#')[0] ?? ''))
  const below = pages.filter(page => page.startsWith('docs/') && page !== 'docs/README.md')
  t.same(
    below.filter(page => !listed.includes(page)),
    [],
    'add the page to docs/README.md'
  )
})

t.test('every page that a file names exists', async t => {
  const files = new Set([...pages, ...['src', 'config', 'scripts', 'test', 'bench'].flatMap(filesBelow)])
  const named = [...files].flatMap(file =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\bdocs\/[a-z]+\/[a-z-]+\.md\b/g)].map(([page]) => ({
      file,
      page
    }))
  )
  t.ok(named.length > 10, 'names are found')
  t.same(
    named.filter(({ page }) => !existsSync(join(root, page))),
    []
  )
})

/** The lines of the first table below a heading of README.md, as cells. */
function tableOf(heading: string): string[][] {
  const section = readText('README.md').split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  const lines = section.split('\n').filter(line => line.startsWith('| '))
  return lines.slice(1).map(line => line.slice(2, -2).split(' | '))
}

t.test('README.md lists the resources that the API has', async t => {
  const listed = tableOf('The API').flatMap(([, resources = '']) => resources.split(', '))
  t.same(listed.map(name => name.toLowerCase()).sort(), tags.map(({ name }) => name.toLowerCase()).sort())
})

t.test('README.md lists everything in a home', async t => {
  const listed = tableOf('The home').flatMap(([paths = '']) =>
    [...paths.matchAll(/`([\w.]+)\/?`/g)].map(([, name]) => name)
  )
  const joined = filesBelow('src').flatMap(file =>
    [...readText(file).matchAll(/\(config\(\)\.home, '([\w.]+)/g)].map(([, name]) => name)
  )
  const held = [...HOME_FOLDERS, ...hostKeyPaths().map(path => basename(path)), 'config.yaml', ...joined]
  t.ok(joined.includes('cache') && joined.includes('mail') && joined.includes('mysql'), 'the sources are understood')
  t.same(listed.sort(), [...new Set(held)].sort())
})

/** The rows of all tables of a page whose first cell is a file. */
const fileRows = (page: string) =>
  [...readText(page).matchAll(/^\| `((?:src|test|config|scripts|bench)\/[^`]+\.tsx?)` \| (.+?) \|/gm)].map(
    ([, file = '', cell = '']) => ({ file, names: [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name) })
  )

t.test('docs/develop/architecture.md walks through functions that exist', async t => {
  const steps = fileRows('docs/develop/architecture.md')
  t.ok(steps.length > 40, 'the tables are found')
  const lost = steps.flatMap(({ file, names }) => {
    if (!existsSync(join(root, file))) return [file]
    const text = readText(file)
    return names.filter(name => !new RegExp(`\\b${name}\\b`).test(text)).map(name => `${file}: ${name}`)
  })
  t.same(lost, [])
})

t.test('docs/develop/architecture.md lists every limiter', async t => {
  const listed = new Set(fileRows('docs/develop/architecture.md').map(({ file }) => file))
  const limiters = filesBelow('src').filter(file => readText(file).includes('new Limiter('))
  t.ok(limiters.length > 5, 'the sources are understood')
  t.same(
    limiters.filter(file => !listed.has(file)),
    []
  )
})

t.test('the pages for developers name files that exist', async t => {
  const texts = ['README.md', 'CONTRIBUTING.md', ...filesBelow('docs/develop')]
  const named = texts.flatMap(page =>
    [...readText(page).matchAll(/`((?:src|test|config|scripts|bench)\/[\w./-]+)`/g)].map(
      ([, file = '']) => `${page}: ${file}`
    )
  )
  t.ok(named.length > 20, 'names are found')
  t.same(
    named.filter(line => !existsSync(join(root, line.split(': ')[1] ?? ''))),
    []
  )
})

t.test('docs/develop/architecture.md lists every area in its wing', async t => {
  const rows = [...readText('docs/develop/architecture.md').matchAll(/^\| ([a-z]+) \| ([a-z -]+) \| /gm)]
  const listed = rows
    .filter(([, wing = '']) => existsSync(join(root, 'src/areas', wing)))
    .flatMap(([, wing, areas = '']) => areas.split(' ').map(area => `${wing}/${area}`))
  const folders = [...new Set(filesBelow('src/areas').map(file => file.split('/').slice(2, 4).join('/')))]
  t.same(listed.sort(), folders.filter(folder => !folder.endsWith('.md')).sort())
})
