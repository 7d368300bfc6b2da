import { testAccess } from '../../access/matrix.js'
import { fillWithBuild } from '../builds/make-builds.js'
import { access as pipelines } from './pipelines.access.js'

testAccess([pipelines], fillWithBuild)
