// The pages of a repository.
import type { FastifyPluginAsync } from 'fastify'
import { commitPages } from './commits.js'
import { editPages } from './edits.js'
import { filePages } from './files.js'
import { refPages } from './refs.js'

export const codePages: FastifyPluginAsync = async app => {
  await app.register(commitPages)
  await app.register(editPages)
  await app.register(filePages)
  await app.register(refPages)
}
