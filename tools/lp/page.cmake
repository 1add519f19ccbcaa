# lp_page(TARGET): compiles the page of `lp ui` into a target, as three texts. The scripts are one text, in this order.
function(lp_page target)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/ui/page)
  set(scripts base figures list run graph nodes logs events curves why main)
  list(TRANSFORM scripts PREPEND ${folder}/)
  list(TRANSFORM scripts APPEND .js)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/page.html ${folder}/style.css ${scripts})
  file(READ ${folder}/page.html frame)
  file(READ ${folder}/style.css style)
  set(script "")
  foreach(file ${scripts})
    file(READ ${file} text)
    string(APPEND script "${text}")
  endforeach()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/page_parts.cc)
  string(CONCAT text "#include \"tools/lp/ui/page_parts.h\"\n\nnamespace lp::tool {\n"
    "const std::string_view kPageFrame = R\"page(${frame})page\";\n"
    "const std::string_view kPageStyle = R\"page(${style})page\";\n"
    "const std::string_view kPageScript = R\"page(${script})page\";\n}\n")
  file(GENERATE OUTPUT ${out} CONTENT "${text}")
  target_sources(${target} PRIVATE ${out})
  set_source_files_properties(${out} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
