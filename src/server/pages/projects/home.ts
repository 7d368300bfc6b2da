// The page of a project: what it is, how to get it, its files and its README.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { may } from '../../../access/authorize.js'
import { pipelinesBefore } from '../../../areas/ci/pipelines/pipelines.queries.js'
import { readFolder } from '../../../areas/code/browsing/folders.js'
import { languagesOf } from '../../../areas/code/browsing/languages.js'
import { findRefPath } from '../../../areas/code/browsing/ref-paths.js'
import { projectUrls } from '../../../areas/projects/projects/project-urls.js'
import { showProject } from '../../../areas/projects/projects/show-project.js'
import { isStarred } from '../../../areas/projects/projects/stars.js'
import { codePlace } from '../code/places.js'
import { show } from '../page-routes.js'
import { projectPath } from '../place.js'
import { renderedText } from '../text/readme.js'
import { languageBar } from './plot.js'

export const projectHomePage: FastifyPluginAsyncTypebox = async app => {
  app.get('/:namespace/:project', { config: { can: 'project.read', showsProject: true } }, async (request, reply) => {
    const { project, actor, shownProject } = request
    const [record, files, pipeline, starred] = await Promise.all([
      showProject(shownProject, actor),
      filesOf(request),
      pipelineOf(request),
      actor.user ? isStarred(project, actor.user) : false
    ])
    const base = projectPath(project)
    return show(request, reply, 'projects/home', {
      title: project.name,
      base,
      record,
      ...files,
      pipeline,
      starred,
      urls: projectUrls(`${project.namespace_path}/${project.path}`),
      importState: project.import_state,
      may: mayOf(request),
      feed: `${base}/activity.atom`
    })
  })
}

/** What the visitor may do: a form that would be refused is not shown. */
const mayOf = ({ project, actor }: FastifyRequest) => ({
  readCode: may(actor, 'file.read', project),
  push: may(actor, 'repository.write', project),
  star: may(actor, 'project.star', project),
  fork: may(actor, 'project.fork', project) && may(actor, 'repository.read', project)
})

/** The files of the default branch, if there are any that the visitor may read. */
async function filesOf(request: FastifyRequest) {
  const { project, actor } = request
  if (project.default_branch === null || project.import_state !== null || !may(actor, 'file.read', project)) return {}
  const found = await findRefPath(project, project.default_branch)
  const code = codePlace(request, found)
  const [folder, languages] = await Promise.all([readFolder(found, { commits: code.may.commits }), languagesOf(found)])
  const readme = folder.readme && (await renderedText(request, found, folder.readme))
  return { code, folder, languages, bar: languageBar(languages), readme }
}

async function pipelineOf({ project, actor }: FastifyRequest) {
  if (project.default_branch === null || !may(actor, 'pipeline.read', project)) return undefined
  const [last] = await pipelinesBefore({ projectId: project.id, ref: project.default_branch }, undefined, 1)
  return last
}
