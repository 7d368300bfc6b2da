// The records of a package about its modules: the list of licenses with their texts, and the SBOM.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'

/** Returns the list of licenses: each text stands there once, under the names of its packages. */
export function licensesOf(packages) {
  const texts = new Map()
  for (const { name, version, license, author, texts: own } of packages) {
    const text = own.length > 0 ? own.join('\n\n') : `No text in the package. Its author is ${author ?? 'not named'}.`
    const named = texts.get(text) ?? []
    texts.set(text, [...named, `${name} ${version} (${license})`])
  }
  const list = [...texts].map(([text, names]) => `${'-'.repeat(80)}\n${names.join('\n')}\n\n${text}\n`)
  return [
    'Licenses of the modules that Gitstead contains. Gitstead itself has the license in LICENSE.\n',
    ...packages.map(({ name, version, license }) => `${name} ${version}: ${license}`).sort(),
    '',
    ...list.sort()
  ].join('\n')
}

/**
 * Returns a CycloneDX document of the packages that are left. npm makes it from the lock file in this folder. The same packages and the
 * same time (in seconds) give the same document.
 */
export function sbomOf(folder, packages, time) {
  const printed = execFileSync('npm', ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024
  })
  const sbom = JSON.parse(printed)
  // With --omit=dev, npm would also omit packages that development packages need as well.
  const kept = new Map(packages.map(({ name, version, license }) => [`${name}@${version}`, license]))
  sbom.components = sbom.components.filter(each => kept.has(each['bom-ref']))
  // npm does not know the older field of package.json.
  for (const each of sbom.components) each.licenses ??= [{ license: { id: kept.get(each['bom-ref']) } }]
  const known = new Set([sbom.metadata.component, ...sbom.components].map(component => component['bom-ref']))
  sbom.dependencies = sbom.dependencies
    .filter(({ ref }) => known.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(name => known.has(name)) }))
  Object.assign(sbom.metadata.component, { name: 'gitstead', type: 'application' })
  sbom.metadata.timestamp = new Date(time * 1000).toISOString()
  delete sbom.serialNumber
  const hash = createHash('sha256').update(JSON.stringify(sbom)).digest('hex')
  sbom.serialNumber = `urn:uuid:${hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5')}`
  return `${JSON.stringify(sbom, null, 2)}\n`
}
