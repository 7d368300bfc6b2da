// Measures reads of trees, files, blobs and commits through the API on a repository of 80,000 commits.
import { type Prepared, withAppliance } from './lib/appliance.js'
import { countCost } from './lib/cost.js'
import { report } from './lib/figure.js'
import { runGit } from './lib/git.js'
import { bigRepository, FILE_COUNT, FOLDERS, pathOfFile } from './lib/history.js'
import { burst, get, rate, stopLoad } from './lib/load.js'
import { pushHistory } from './lib/pushed-history.js'

const all = Array.from({ length: FILE_COUNT }, (_, index) => pathOfFile(index))

async function measureRead(appliance: Prepared, name: string, paths: readonly string[]): Promise<void> {
  const { port, parts, admin } = appliance
  const { perSecond, ...detail } = await rate({
    port,
    requests: paths.map(path => get(path, admin.token)),
    connections: 16,
    rounds: 3,
    parts
  })
  report({
    name: `repository, ${name}`,
    value: perSecond,
    unit: 'requests/s',
    limit: null,
    better: 'higher',
    detail: { ...detail, different: paths.length }
  })
}

/** Reads every path for the first time: no object is in a cache yet, except folders that earlier reads went through. */
async function measureFirstReads(appliance: Prepared, name: string, paths: readonly string[]): Promise<void> {
  const cost = countCost(appliance.parts)
  const { perSecond, p50, p99, count } = await readOnce(appliance, paths)
  report({
    name: `repository, ${name}`,
    value: perSecond,
    unit: 'requests/s',
    limit: null,
    better: 'higher',
    detail: { p50_ms: p50, p99_ms: p99, different: count, ...cost(count) }
  })
}

const readOnce = ({ port, admin }: Prepared, paths: readonly string[]) =>
  burst({
    port,
    requests: paths.map(path => get(path, admin.token)),
    connections: 16,
    milliseconds: 30_000,
    most: paths.length
  })

async function measure(appliance: Prepared): Promise<void> {
  const source = await bigRepository()
  const base = `/api/v3/projects/${(await pushHistory(appliance, source)).project.id}/repository`
  const commits = (await runGit(['-C', source, 'rev-list', '--max-count=5000', 'master'])).split('\n')
  const blobs = (await runGit(['-C', source, 'ls-tree', '-r', '--format=%(objectname)', 'master'])).split('\n')
  const file = (path: string) => `${base}/files?file_path=${encodeURIComponent(path)}&ref=master`

  // A server that has just started compiles its code while it answers its first requests.
  await readOnce(appliance, all.slice(400, 1400).map(file))
  await measureFirstReads(appliance, 'files never read before', all.slice(1400, 3400).map(file))
  await measureFirstReads(
    appliance,
    'commits never read before',
    commits.slice(1000, 3000).map(id => `${base}/commits/${id}`)
  )
  await measureRead(appliance, 'files of many paths', all.slice(2000, 3000).map(file))
  await measureRead(appliance, 'one file', [file(pathOfFile(2000))])
  await measureRead(
    appliance,
    'trees of 20 entries',
    FOLDERS.map(path => `${base}/tree?path=${path}`)
  )
  await measureRead(appliance, 'tree of 400 entries', [`${base}/tree?path=docs`])
  await measureRead(
    appliance,
    'files raw',
    all.map(path => `${base}/blobs/master?filepath=${path}`)
  )
  await measureRead(
    appliance,
    'blobs by id',
    blobs.map(id => `${base}/raw_blobs/${id}`)
  )
  await measureRead(
    appliance,
    'commits',
    commits.slice(1000, 2000).map(id => `${base}/commits/${id}`)
  )
}

await withAppliance({}, measure)
stopLoad()
